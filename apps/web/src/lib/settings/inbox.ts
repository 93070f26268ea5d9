/** Messages in the test inbox: webhooks that were sent to this cloud, and mails and push notifications that could not be sent. */
export interface InboxMessage {
  readonly id: number;
  readonly at: Date;
  readonly kind: 'mail' | 'push' | 'webhook';
  /** Address of a person, or name of the webhook. */
  readonly to: string;
  /** Subject of a mail; otherwise the beginning of the body. */
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of a mail; otherwise the body as it was sent, with JSON indented. */
  readonly body: string;
}

/** A request as the cloud keeps it. */
export interface Caught {
  readonly id: number;
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const subjectCharacters = 120;

export function messageOf({ id, receivedAt, method, path, headers, body }: Caught): InboxMessage {
  const kind = method === 'MAIL' ? 'mail' : method === 'PUSH' ? 'push' : 'webhook';
  const name = path.replace(/\?.*$/, '').split('/').at(-1) ?? '';
  const parsed = parse(body);
  const isMail = kind === 'mail' && typeof parsed === 'object' && parsed !== null;
  const text = isMail ? String(Reflect.get(parsed, 'text') ?? '') : pretty(parsed, body);
  return {
    ...{ id, kind, headers, at: new Date(receivedAt) },
    to: headers['To'] ?? decode(name),
    subject: headers['Subject'] ?? body.slice(0, subjectCharacters),
    body: text,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pretty(parsed: unknown, body: string): string {
  return typeof parsed === 'object' && parsed !== null ? JSON.stringify(parsed, null, 2) : body;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
