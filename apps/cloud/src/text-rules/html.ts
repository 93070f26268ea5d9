/** HTML templates: values are escaped unless they are HTML themselves. */

export interface Html {
  readonly html: string;
}

type Value = string | number | Html | readonly Html[] | undefined | false;

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.map((part, at) => (at === 0 ? '' : shown(values[at - 1])) + part).join('') };
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
