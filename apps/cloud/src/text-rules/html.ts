/**
 * HTML templates: values are escaped unless they are HTML themselves. Only this file makes HTML, and pages are sent as HTML only
 * (`sendHtml`), so a page that is built from plain strings does not compile.
 */

class EscapedHtml {
  readonly html: string;
  /** Makes the type nominal: an object with text is no HTML. */
  protected readonly isEscaped = true;

  constructor(html: string) {
    this.html = html;
  }
}

export type Html = EscapedHtml;

type Value = string | number | Html | readonly Html[] | undefined | false;

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new EscapedHtml(parts.map((part, at) => (at === 0 ? '' : shown(values[at - 1])) + part).join(''));
}

/** Text that is not escaped: only for constants of the source, such as a style sheet. */
export function constantHtml(text: string): Html {
  return new EscapedHtml(text);
}

function shown(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return 'html' in value ? value.html : value.map((one) => one.html).join('');
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (sign) => names[sign] ?? '');
}
