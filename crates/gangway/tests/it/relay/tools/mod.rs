//! What stands around the relay: study sessions over HTTP and on the command line, tokens, replays and the checker.

mod example_agents;
mod examples;
mod lamp;
mod pages;
mod replay;
mod rest;
mod wire;
