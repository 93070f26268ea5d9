/** A mail server that keeps the mails it receives, and refuses them when the test says so. */
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { parseMail, type ReceivedMail } from './parse-mail.ts';

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
          ...parseMail(Buffer.concat(chunks).toString('utf8')),
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
