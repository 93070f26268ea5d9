/** A mail server that keeps the mails it receives, and refuses them when the test says so. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface CaughtMail {
  readonly from: string;
  /** Recipients of the envelope. */
  readonly to: readonly string[];
  /** Header lines by lower-case name, unfolded; encoded words stay encoded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, decoded. */
  readonly text: string;
}

export interface SmtpSink extends AsyncDisposable {
  /** `smtp://127.0.0.1:<port>`. */
  readonly url: string;
  readonly mails: readonly CaughtMail[];
  /** Answers every recipient with this code, such as 451 or 550, until called with undefined. */
  refuseWith(code: number | undefined): void;
  /** How many recipients were refused. */
  readonly refused: number;
  /** Resolves with all mails once there are `count`. */
  waitFor(count: number): Promise<readonly CaughtMail[]>;
}

export async function startSmtpSink(): Promise<SmtpSink> {
  const mails: CaughtMail[] = [];
  const arrived = new EventTarget();
  let refusal: number | undefined;
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
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map((one) => one.address),
          ...parse(Buffer.concat(chunks).toString('utf8')),
        });
        done();
        arrived.dispatchEvent(new Event('mail'));
      });
    },
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
    refuseWith(code) {
      refusal = code;
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

function parse(raw: string): Pick<CaughtMail, 'headers' | 'text'> {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const body = rest.join('\r\n\r\n').replaceAll('\r\n', '\n');
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return { headers, text: Buffer.from(body, 'base64').toString('utf8') };
  return { headers, text: encoding === 'quoted-printable' ? unquoted(body) : body };
}

function unquoted(text: string): string {
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
