// Ways by which a page can send something to a host of its choice, and sinks that notice each of them.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";

/** Where a channel is to send to. */
export interface Target {
  host: string;
  port: number;
  /** `http://HOST:PORT` */
  url: string;
  /** An address of this machine that WebRTC uses. */
  ip: string;
}

export interface Channel {
  name: string;
  /** What stands in the body of the page. */
  content?: (to: Target) => string;
  /** A module that runs after it. */
  script?: (to: Target) => string;
}

export interface Sink extends Target {
  /** What arrived: connections and datagrams, by the protocol. */
  hits: string[];
  close: () => void;
}

/** Listens on one port for TCP and UDP; whatever arrives counts. */
export async function openSink(host: string, attempts = 5): Promise<Sink> {
  const hits: string[] = [];
  const tcp = createServer((socket) => {
    hits.push("tcp");
    socket.on("error", () => undefined);
    socket.on("data", () => {
      const head = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *";
      socket.end(`${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    });
  });
  const udp = createSocket("udp4", () => hits.push("udp"));
  udp.bind(0, "0.0.0.0");
  await once(udp, "listening");
  const { port } = udp.address();
  tcp.listen(port, "0.0.0.0");
  try {
    await once(tcp, "listening");
  } catch (error) {
    udp.close();
    // The port that was free for one protocol may be taken for the other.
    if (attempts > 1) return openSink(host, attempts - 1);
    throw error;
  }
  const url = `http://${host}:${port}`;
  const close = () => {
    tcp.close();
    udp.close();
  };
  return { host, port, url, ip: ownAddress(), hits, close };
}

/** WebRTC leaves the loopback interface alone, so it is given another address of this machine where there is one. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const outer = all.find((one) => !one.internal && one.family === "IPv4");
  return outer?.address ?? "127.0.0.1";
}
