/** A mail server that keeps the mails it receives, and refuses them when the test says so. */
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  /** Recipients of the envelope. */
  readonly to: readonly string[];
  /** Header lines by lower-case name, unfolded; encoded words stay encoded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, or its text/plain part, decoded. */
  readonly text: string;
  /** The text/html part, decoded; empty if there is none. */
  readonly html: string;
  readonly attachments: readonly ReceivedFile[];
}

export interface ReceivedFile {
  readonly filename: string;
  readonly type: string;
  readonly content: Buffer;
}

export interface SmtpSink extends AsyncDisposable {
  /** `smtp://127.0.0.1:<port>`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Answers every recipient with this code, such as 451 or 550, until called with undefined. */
  refuseWith(code: number | undefined): void;
  /** Fails every mail after its content has arrived: `drop` closes the connection without an answer, a number is the answer. */
  failContent(fault: 'drop' | number | undefined): void;
  /** Mails that were failed after their content had arrived. */
  readonly failed: readonly ReceivedMail[];
  /** How many recipients were refused. */
  readonly refused: number;
  /** Resolves with all mails once there are `count`. */
  waitFor(count: number): Promise<readonly ReceivedMail[]>;
}

export async function startSmtpSink(): Promise<SmtpSink> {
  const mails: ReceivedMail[] = [];
  const arrived = new EventTarget();
  const failed: ReceivedMail[] = [];
  let refusal: number | undefined;
  let fault: 'drop' | number | undefined;
  let refused = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo(_address, _session, done) {
      if (refusal === undefined) return done();
      refused++;
      done(Object.assign(new Error('refused by the test'), { responseCode: refusal }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        (fault === undefined ? mails : failed).push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map((one) => one.address),
          ...parse(Buffer.concat(chunks).toString('utf8')),
        });
        if (fault === 'drop') for (const socket of sockets) socket.destroy();
        else if (fault !== undefined) done(Object.assign(new Error('failed by the test'), { responseCode: fault }));
        else done();
        arrived.dispatchEvent(new Event('mail'));
      });
    },
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // A client that disconnects midway must not fail a test.
  server.on('error', () => {});
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    failed,
    refuseWith(code) {
      refusal = code;
    },
    failContent(how) {
      fault = how;
    },
    get refused() {
      return refused;
    },
    async waitFor(count) {
      while (mails.length < count)
        await new Promise((resolve) => arrived.addEventListener('mail', resolve, { once: true }));
      return mails;
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function parse(raw: string): Omit<ReceivedMail, 'from' | 'to'> {
  const [whole = { headers: new Map<string, string>(), content: Buffer.alloc(0) }, ...parts] = entitiesOf(raw);
  const of = (type: string): string =>
    textOf(parts.find((part) => typeOf(part) === type && fileOf(part) === undefined));
  const isText = parts.length === 0;
  return {
    headers: whole.headers,
    text: isText ? textOf(whole) : of('text/plain'),
    html: of('text/html'),
    attachments: parts.flatMap((part) => {
      const filename = fileOf(part);
      return filename === undefined ? [] : [{ filename, type: typeOf(part), content: part.content }];
    }),
  };
}

interface Entity {
  readonly headers: ReadonlyMap<string, string>;
  /** Decoded. */
  readonly content: Buffer;
}

/** The entity, and the parts in it at all levels. */
function entitiesOf(raw: string): Entity[] {
  const entity = entityOf(raw);
  const boundary = /^multipart\/.*boundary="?([^";]+)/i.exec(entity.headers.get('content-type') ?? '')?.[1];
  if (boundary === undefined) return [entity];
  const parts = raw.split(`--${boundary}`).slice(1, -1);
  return [entity, ...parts.flatMap((part) => entitiesOf(part.replace(/^\r\n/, '').replace(/\r\n$/, '')))];
}

function typeOf({ headers }: Entity): string {
  return headers.get('content-type')?.split(';', 1)[0]?.toLowerCase() ?? 'text/plain';
}

function fileOf({ headers }: Entity): string | undefined {
  return /^attachment;.*filename="?([^";]+)/i.exec(headers.get('content-disposition') ?? '')?.[1];
}

function textOf(entity: Entity | undefined): string {
  return entity?.content.toString('utf8').replaceAll('\r\n', '\n') ?? '';
}

function entityOf(raw: string): Entity {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const body = rest.join('\r\n\r\n');
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return { headers, content: Buffer.from(body, 'base64') };
  return { headers, content: encoding === 'quoted-printable' ? unquoted(body) : Buffer.from(body) };
}

function unquoted(text: string): Buffer {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
