/** The state and the answers of the fake Stripe: payments, set-up pages, payment methods, and pending events. */
import { randomBytes } from 'node:crypto';

/** The outcome of payments with the card. `processing`: `confirm` decides. */
export type FakeCard = 'succeeds' | 'declines' | 'needs-cardholder' | 'processing';

export interface FakePayment {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  readonly currency: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly metadata: Readonly<Record<string, string>>;
  amount_received: number;
  status: 'succeeded' | 'processing' | 'requires_payment_method' | 'requires_action' | 'canceled';
  last_payment_error: { readonly message: string } | null;
}

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export type Form = Readonly<Record<string, string>>;

interface Session {
  readonly id: string;
  readonly url: string;
  readonly expires_at: number;
  status: 'open' | 'complete' | 'expired';
  customer: string | null;
  setup_intent: object | null;
}

const daySeconds = 86_400;

export class FakeStripeState {
  readonly payments: Map<string, FakePayment> = new Map<string, FakePayment>();
  readonly methods: Map<string, FakeCard> = new Map<string, FakeCard>();
  /** Bodies of events, oldest first. */
  readonly events: string[] = [];
  now: () => number = Date.now;
  readonly #sessions = new Map<string, Session>();
  readonly #url: string;

  /** @param url base address of the pages. */
  constructor(url: string) {
    this.#url = url;
  }

  answer(method: string, path: string, form: Form): Answer {
    const [, , kind = '', id = '', action = ''] = path.split('/');
    if (kind === 'payment_intents' && id === '') return method === 'POST' ? this.#pay(form) : this.#list(path, form);
    const payment = this.payments.get(id);
    if (payment !== undefined) return action === 'cancel' ? this.#cancel(payment) : ok(payment);
    if (kind === 'checkout' && method === 'POST') return this.#openPage();
    const session = this.#sessions.get(action);
    if (session !== undefined) return ok(session);
    if (kind === 'payment_methods' && action === 'detach' && this.methods.delete(id)) return ok({ id });
    return refusal(404, 'invalid_request_error', `No such object: ${path}`);
  }

  complete(pageUrl: string, card: FakeCard): void {
    const session = this.#openSession(pageUrl);
    const id = `pm_${token()}`;
    this.methods.set(id, card);
    session.status = 'complete';
    session.customer = `cus_${token()}`;
    const method = { id, object: 'payment_method', type: 'card', card: { brand: 'visa', last4: '4242' } };
    session.setup_intent = { id: `seti_${token()}`, object: 'setup_intent', payment_method: method };
    this.#emit('checkout.session.completed', { ...session, setup_intent: 'seti' });
  }

  expire(pageUrl: string): void {
    const session = this.#openSession(pageUrl);
    session.status = 'expired';
    this.#emit('checkout.session.expired', session);
  }

  confirm(paymentId: string, isPaid: boolean): void {
    const payment = this.payments.get(paymentId);
    if (payment?.status !== 'processing')
      throw new Error(`fake Stripe: expected a payment that is processing, found ${payment?.status ?? 'none'}`);
    if (isPaid) this.#become(payment, 'succeeded');
    else this.#become(payment, 'requires_payment_method', 'Your bank refused the payment.');
  }

  #pay(form: Form): Answer {
    const card = this.methods.get(form['payment_method'] ?? '');
    if (card === undefined) return refusal(400, 'invalid_request_error', 'No such PaymentMethod');
    const payment: FakePayment = {
      ...{ id: `pi_${token()}`, amount: Number(form['amount']), currency: form['currency'] ?? '', amount_received: 0 },
      ...{ customer: form['customer'] ?? '', status: 'processing', metadata: metadataOf(form) },
      ...{ created: Math.floor(this.now() / 1_000), last_payment_error: null },
    };
    this.payments.set(payment.id, payment);
    this.#emit('payment_intent.created', payment);
    if (card === 'succeeds') this.#become(payment, 'succeeded');
    if (card === 'processing') this.#become(payment, 'processing');
    if (card === 'needs-cardholder') this.#become(payment, 'requires_action');
    if (card !== 'declines') return ok(payment);
    this.#become(payment, 'requires_payment_method', 'Your card was declined.');
    return refusal(402, 'card_error', 'Your card was declined.', { code: 'card_declined', payment_intent: payment });
  }

  #list(url: string, form: Form): Answer {
    const from = Number(form['created[gte]'] ?? 0);
    const data = [...this.payments.values()].filter(
      ({ customer, created }) => customer === form['customer'] && created >= from,
    );
    return ok({ object: 'list', data, has_more: false, url });
  }

  #cancel(payment: FakePayment): Answer {
    if (['succeeded', 'canceled', 'processing'].includes(payment.status))
      return refusal(400, 'invalid_request_error', `A payment that is ${payment.status} cannot be canceled`);
    this.#become(payment, 'canceled');
    return ok(payment);
  }

  #openPage(): Answer {
    const session: Session = {
      ...{ id: `cs_test_${token()}`, url: `${this.#url}/page/${token()}`, status: 'open' },
      ...{ expires_at: Math.floor(this.now() / 1_000) + daySeconds, customer: null, setup_intent: null },
    };
    this.#sessions.set(session.id, session);
    return ok(session);
  }

  #openSession(pageUrl: string): Session {
    const session = [...this.#sessions.values()].find(({ url }) => url === pageUrl);
    if (session?.status === 'open') return session;
    throw new Error(`fake Stripe: expected an open page at ${pageUrl}, found ${session?.status ?? 'none'}`);
  }

  #become(payment: FakePayment, status: FakePayment['status'], error?: string): void {
    payment.status = status;
    if (status === 'succeeded') payment.amount_received = payment.amount;
    if (error !== undefined) payment.last_payment_error = { message: error };
    this.#emit(`payment_intent.${status === 'requires_payment_method' ? 'payment_failed' : status}`, payment);
  }

  #emit(type: string, object: object): void {
    const created = Math.floor(this.now() / 1_000);
    const event = { id: `evt_${token()}`, object: 'event', type, created, livemode: false, data: { object } };
    this.events.push(JSON.stringify(event));
  }
}

export function token(): string {
  return randomBytes(12).toString('hex');
}

function ok(body: object): Answer {
  return { status: 200, body: structuredClone(body) };
}

export function refusal(status: number, type: string, message: string, more: object = {}): Answer {
  return { status, body: structuredClone({ error: { type, message, ...more } }) };
}

/** `metadata[a]=b` → `{ a: 'b' }`. */
function metadataOf(form: Form): Record<string, string> {
  const found = Object.entries(form).flatMap(([key, value]) => {
    const name = /^metadata\[(\w+)\]$/.exec(key)?.[1];
    return name === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
