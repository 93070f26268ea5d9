/** Reads mails as a mail program does: headers, text, HTML and attachments. */

export interface ReceivedMail extends MailContent {
  readonly from: string;
  /** Recipients of the envelope. */
  readonly to: readonly string[];
}

export interface MailContent {
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

/** @param raw with CRLF at the ends of lines, as SMTP carries it */
export function parseMail(raw: string): MailContent {
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
