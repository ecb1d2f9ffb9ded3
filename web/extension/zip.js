// A zip whose bytes depend on its files alone: sorted names, one date, nothing compressed (compressors differ between versions).
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

// 1 January 1980, the first date that a zip knows.
const DATE = 0x0021;
const UTF8 = 0x0800;
const VERSION = 20;

/**
 * @param {Map<string, Buffer>} files
 * @returns {Buffer}
 */
export function zip(files) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {Buffer[]} */
  const directory = [];
  let offset = 0;
  const names = [...files.keys()].sort();
  for (const name of names) {
    const data = files.get(name) ?? Buffer.alloc(0);
    const words = Buffer.from(name, "utf8");
    const about = Buffer.alloc(26);
    about.writeUInt16LE(VERSION, 0);
    about.writeUInt16LE(UTF8, 2);
    about.writeUInt16LE(DATE, 8);
    about.writeUInt32LE(crc32(data), 10);
    about.writeUInt32LE(data.length, 14);
    about.writeUInt32LE(data.length, 18);
    about.writeUInt16LE(words.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), about, words]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    const made = Buffer.from([VERSION, 0]);
    const head = Buffer.concat([Buffer.from("PK\x01\x02"), made, about]);
    directory.push(head, entry, words);
    parts.push(local, data);
    offset += local.length + data.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(names.length, 4);
  end.writeUInt16LE(names.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06"), end]);
}
