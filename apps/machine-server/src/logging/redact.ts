/**
 * Keeps secrets out of the log: values that are known to be secret, wherever they occur; values of keys that look secret; and texts that
 * look like secrets (passwords and tokens in addresses, bearer tokens, private keys).
 */
import { errorText, fieldText, type LogFields, type LogLine } from '@platform/base';
import { isSecretPath, mask } from '@platform/machine-config/mask-secrets';

/** Shorter ones are not searched for in texts, because that would mutilate ordinary text. */
const leastLength = 6;

const word =
  '(?:secret|passw(?:or)?d|passphrase|token|credential|private[_-]?key|api[_-]?key|access[_-]?key|auth[_-]?key)';
const quoted = '"(?:[^"\\\\]|\\\\.)*"';

/** Each in linear time, because modules and clients also write lines. The text before the secret is kept. */
const looks: readonly RegExp[] = [
  // //user:password@host, with any number of @ in the password.
  /(\/\/[^\s/:@?#]*:)[^\s/?#]*(?=@)/g,
  // token=…, as in addresses and environments.
  new RegExp(`(${word}[\\w-]{0,30}=)(?:${quoted}|[^\\s&;,"'#]+)`, 'gi'),
  // "token": "…"
  new RegExp(`(${word}[\\w-]{0,30}"\\s{0,4}:\\s{0,4})(?:${quoted}|-?[\\d.]+)`, 'gi'),
  /(\bBearer\s{1,4})[\w.~+/=-]{8,}/gi,
  /()\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)[\s\S]*?(?=-----END|$)/g,
];

// attributes.password: expected text, found …
const foundValue = new RegExp(
  `(${word}[^\\n]{0,300}?\\bfound )(?!none\\b|no\\b|nothing\\b|an?\\b|one\\b|invalid\\b)(?:${quoted}|[^\\s;,]+)`,
  'gi',
);

/** The text without parts that look like secrets. */
export function redactText(text: string): string {
  const withoutFound = text.replace(foundValue, (whole: string, before: string, at: number) =>
    namesMistake(text, at, at + whole.length) ? whole : `${before}${mask}`,
  );
  return looks.reduce((redacted, look) => redacted.replace(look, `$1${mask}`), withoutFound);
}

/** Whether what was found is a misspelt word, as in `type: expected api-key, found "apikey"`, or a key that is not known. */
function namesMistake(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 300), start);
  return (
    /\bexpected [^\n;"]*$/.test(before) || /^(?: \(closest: [^)]{0,100}\))?: this key/.test(text.slice(end, end + 200))
  );
}

export class Redactor {
  /** Secret values, by source. */
  readonly #known = new Map<string, ReadonlySet<string>>();
  /**
   * Those that are searched for, by their first characters: a configuration may have thousands, and a text is searched once for all of them.
   */
  #byStart = new Map<string, { readonly values: Set<string>; lengths: readonly number[] }>();

  /** Removes these values from all lines from now on. Replaces the earlier ones of the same source. */
  hide(source: string, secrets: Iterable<string>): void {
    this.#known.set(source, new Set(secrets));
    this.#byStart = new Map();
    for (const value of [...this.#known.values()].flatMap((values) => [...values])) {
      if (value.length < leastLength) continue;
      const start = value.slice(0, leastLength);
      const found = this.#byStart.get(start) ?? { values: new Set(), lengths: [] };
      this.#byStart.set(start, found);
      found.values.add(value);
    }
    // The longest first, because one may begin with another.
    for (const found of this.#byStart.values())
      found.lengths = [...new Set(found.values.values().map(({ length }) => length))].toSorted((a, b) => b - a);
  }

  /** Whether the whole text is a known secret, of any length. */
  isSecret(text: string): boolean {
    return text !== '' && this.#known.values().some((values) => values.has(text));
  }

  text(text: string): string {
    return redactText(this.#byStart.size === 0 ? text : this.#withoutKnown(text));
  }

  #withoutKnown(text: string): string {
    let redacted = '';
    let taken = 0;
    for (let at = 0; at + leastLength <= text.length; ) {
      const found = this.#byStart.get(text.slice(at, at + leastLength));
      const length = found?.lengths.find((each) => found.values.has(text.slice(at, at + each)));
      if (length === undefined) at++;
      else {
        redacted += `${text.slice(taken, at)}${mask}`;
        at += length;
        taken = at;
      }
    }
    return taken === 0 ? text : redacted + text.slice(taken);
  }

  line(line: LogLine): LogLine {
    return { ...line, message: this.text(line.message), fields: this.#fields(line.fields) };
  }

  #fields(fields: LogFields): LogFields {
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, this.#value(asJson(value), [key])]));
  }

  #value(value: unknown, at: readonly string[]): unknown {
    if (typeof value === 'string') return value !== '' && isSecretPath(at) ? mask : this.text(value);
    if (typeof value === 'number') return isSecretPath(at) ? mask : value;
    if (Array.isArray(value)) return value.map((item) => this.#value(item, at));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#value(item, [...at, key])]));
  }
}

/** A value that is not JSON, such as an error or a cycle, becomes a description of it: a field never fails a line. */
function asJson(value: unknown): unknown {
  if (value instanceof Error) return errorText(value);
  if (typeof value !== 'object' || value === null) return value;
  try {
    return JSON.parse(fieldText(value)) as unknown;
  } catch (caught) {
    return `not JSON: ${errorText(caught)}`;
  }
}
