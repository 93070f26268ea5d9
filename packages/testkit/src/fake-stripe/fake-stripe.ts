/**
 * The parts of Stripe that the payment provider `stripe` needs, on loopback and with state: set-up pages, payments that are made once for
 * each idempotency key, and signed events. The test can delay, lose, repeat and reorder answers and events. No money moves.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  type FakeCard,
  type FakePayment,
  FakeStripeState,
  type Form,
  refusal,
  token,
} from './fake-stripe-state.ts';

/**
 * `lost-request`: nothing happens. `lost-answer`: it is done, and the connection breaks. `failed-answer`: it is done, and the answer is
 * 500.
 */
export type FakeStripeFault = 'none' | 'lost-request' | 'lost-answer' | 'failed-answer';

export interface FakeStripeEvent {
  readonly body: string;
  readonly signature: string;
}

export interface FakeStripe extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** By id. */
  readonly payments: ReadonlyMap<string, FakePayment>;
  /** Payment methods that are attached to a customer, by id. */
  readonly methods: ReadonlyMap<string, FakeCard>;
  /** Decides about each request, such as `POST /v1/payment_intents`, from now on; it may take any time. */
  faults: (request: string) => FakeStripeFault | Promise<FakeStripeFault>;
  /** Sets its clock, ms. Default: the system's. */
  setClock(now: () => number): void;
  /** Fills in the page at this address, as a user does. */
  complete(pageUrl: string, card: FakeCard): void;
  expire(pageUrl: string): void;
  /** Decides about a payment that is `processing`. */
  confirm(paymentId: string, isPaid: boolean): void;
  /** Forgets idempotency keys, as Stripe does after a day. */
  forgetKeys(): void;
  /** The events that have not been taken yet, oldest first, signed now. */
  takeEvents(): FakeStripeEvent[];
  sign(body: string, atMs?: number): string;
}

export async function startFakeStripe(): Promise<FakeStripe> {
  const secretKey = `sk_test_${token()}`;
  const webhookSecret = `whsec_${token()}`;
  const server = createServer((incoming, response) => {
    void readForm(incoming).then(async ({ path, form }) => {
      const { method = '', headers } = incoming;
      const fault = await fake.faults(`${method} ${path}`);
      if (fault === 'lost-request') return void response.destroy();
      const made =
        headers.authorization === `Bearer ${secretKey}`
          ? answerOnce(method, path, form, headers['idempotency-key'])
          : refusal(401, 'invalid_request_error', 'Invalid API Key provided');
      if (fault === 'lost-answer') return void response.destroy();
      const { status, body } = fault === 'failed-answer' ? refusal(500, 'api_error', 'An error occurred') : made;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const memory = new FakeStripeState(url);
  /** By idempotency key. */
  const answers = new Map<string, Answer>();
  const answerOnce = (method: string, path: string, form: Form, key: string | string[] | undefined): Answer => {
    if (typeof key !== 'string') return memory.answer(method, path, form);
    const answer = answers.get(key) ?? memory.answer(method, path, form);
    // A request refused before it was processed may be sent again.
    if (answer.status !== 400) answers.set(key, answer);
    return answer;
  };
  const fake: FakeStripe = {
    ...{ url, secretKey, webhookSecret, payments: memory.payments, methods: memory.methods },
    faults: () => 'none',
    setClock(now) {
      memory.now = now;
    },
    complete: (pageUrl, card) => memory.complete(pageUrl, card),
    expire: (pageUrl) => memory.expire(pageUrl),
    confirm: (paymentId, isPaid) => memory.confirm(paymentId, isPaid),
    forgetKeys: () => answers.clear(),
    takeEvents: () => memory.events.splice(0).map((body) => ({ body, signature: fake.sign(body) })),
    sign(body, atMs = memory.now()) {
      const time = Math.floor(atMs / 1_000);
      return `t=${time},v1=${createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex')}`;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return fake;
}

async function readForm(incoming: IncomingMessage): Promise<{ path: string; form: Form }> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url ?? '/', 'http://fake-stripe');
  const body = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  return { path: url.pathname, form: { ...Object.fromEntries(url.searchParams), ...Object.fromEntries(body) } };
}
