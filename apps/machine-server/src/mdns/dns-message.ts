/** DNS messages (RFC 1035) for multicast DNS: reads questions, writes records. Pure. */

/** Numbers of record types. `any` is for questions only. */
export const recordTypes = { a: 1, ptr: 12, txt: 16, srv: 33, any: 255 } as const;

export interface Question {
  /** Labels joined by dots, in lower case. */
  readonly name: string;
  readonly type: number;
}

export interface Query {
  readonly id: number;
  readonly questions: readonly Question[];
}

export type DnsRecord = { readonly name: string } & (
  | { readonly type: 'a'; readonly address: string }
  | { readonly type: 'ptr'; readonly target: string }
  | { readonly type: 'srv'; readonly target: string; readonly port: number }
  | { readonly type: 'txt'; readonly texts: readonly string[] }
);

export interface Answer {
  readonly id: number;
  /** Repeated in the answer to a resolver that does not speak multicast DNS. */
  readonly questions: readonly Question[];
  readonly answers: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
  /** Seconds for which others may cache the records; 0: they are no longer valid. */
  readonly ttl: number;
  /** Whether the records replace cached ones of the same names. */
  readonly flushes: boolean;
}

const internet = 1;
const flush = 0x8000;
const mostQuestions = 32;

/** Undefined if it is not a query, or malformed. */
export function readQuery(message: Buffer): Query | undefined {
  if (message.length < 12) return undefined;
  const [id, flags, count] = [0, 2, 4].map((at) => message.readUInt16BE(at)) as [number, number, number];
  // An answer, or an operation other than a query.
  if ((flags & 0xf800) !== 0 || count > mostQuestions) return undefined;
  const questions: Question[] = [];
  let at = 12;
  for (let index = 0; index < count; index++) {
    const read = readName(message, at);
    if (read === undefined || read.end + 4 > message.length) return undefined;
    questions.push({ name: read.name, type: message.readUInt16BE(read.end) });
    at = read.end + 4;
  }
  return { id, questions };
}

export function writeAnswer({ id, questions, answers, additional, ttl, flushes }: Answer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(id, 0);
  // An authoritative answer.
  head.writeUInt16BE(0x8400, 2);
  for (const [at, { length }] of [questions, answers, [], additional].entries()) head.writeUInt16BE(length, 4 + 2 * at);
  const asked = questions.map(({ name, type }) => Buffer.concat([nameBytes(name), uint16(type), uint16(internet)]));
  const records = [...answers, ...additional].map((record) => recordBytes(record, ttl, flushes));
  return Buffer.concat([head, ...asked, ...records]);
}

function recordBytes(record: DnsRecord, ttl: number, flushes: boolean): Buffer {
  const data = dataBytes(record);
  // Several machines share a PTR name.
  const type = internet | (flushes && record.type !== 'ptr' ? flush : 0);
  const life = Buffer.alloc(4);
  life.writeUInt32BE(ttl);
  return Buffer.concat([
    nameBytes(record.name),
    uint16(recordTypes[record.type]),
    uint16(type),
    life,
    uint16(data.length),
    data,
  ]);
}

function dataBytes(record: DnsRecord): Buffer {
  switch (record.type) {
    case 'a':
      return Buffer.from(record.address.split('.').map(Number));
    case 'ptr':
      return nameBytes(record.target);
    case 'srv':
      return Buffer.concat([uint16(0), uint16(0), uint16(record.port), nameBytes(record.target)]);
    case 'txt':
      return Buffer.concat(
        record.texts.map((text) => Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)])),
      );
  }
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label).subarray(0, 63));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** `end`: the offset after the name where it begins. */
function readName(message: Buffer, start: number): { name: string; end: number } | undefined {
  const labels: string[] = [];
  let end: number | undefined;
  let at = start;
  for (let jumps = 0; at < message.length; ) {
    const length = message.readUInt8(at);
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: end ?? at + 1 };
    if (length >= 0xc0) {
      // A pointer to the rest of the name; a chain of pointers may be cyclic.
      if (at + 2 > message.length || ++jumps > 16) return undefined;
      end ??= at + 2;
      at = message.readUInt16BE(at) & 0x3fff;
      continue;
    }
    if (length > 63 || at + 1 + length > message.length || labels.length > 32) return undefined;
    labels.push(message.toString('utf8', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return undefined;
}
