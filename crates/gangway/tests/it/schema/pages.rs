//! The wire types of pages.

use super::declare::declare;

/// The extension's tools for the active tab.
pub fn declare_browser(text: &mut String) {
    use gangway_webagent::browser;
    declare::<browser::BrowserAct>(text);
    declare::<browser::BrowserAction>(text);
    declare::<browser::BrowserAnswer>(text);
    declare::<browser::BrowserProblem>(text);
}

/// Sites, and the pages of sessions.
pub fn declare_pages(text: &mut String) {
    use gangway_webagent::{self as sites, routes, wire};
    declare::<sites::SiteError>(text);
    declare::<sites::SiteServerMessage>(text);
    declare::<sites::Numbered>(text);
    declare::<gangway_pages::OfferedTool>(text);
    declare::<gangway::protocols::pages::PageInfo>(text);
    declare::<gangway::protocols::pages::PageList>(text);
    declare::<gangway::protocols::pages::ConnectPage>(text);
    declare::<gangway_demo::wire::DemoState>(text);
    declare::<gangway_demo::wire::DemoStep>(text);
    declare::<gangway_demo::wire::DemoTask>(text);
    declare::<gangway_demo::wire::DemoInfo>(text);
    declare::<gangway_demo::wire::DemoStatus>(text);
    declare::<gangway_pages::RefusedTool>(text);
    declare::<gangway_pages::ToolProblem>(text);
    declare::<sites::PanelStyle>(text);
    declare::<sites::PanelInfo>(text);
    declare::<routes::PanelTicket>(text);
    declare::<wire::BrokerHello>(text);
    declare::<wire::BrokerClientMessage>(text);
    declare::<wire::BrokerWelcome>(text);
    declare::<wire::BrokerRefused>(text);
}
