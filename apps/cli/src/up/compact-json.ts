/** Readable JSON: what fits into `width` columns stays on one line, the rest is broken into one entry per line. */
export function compactJson(value: unknown, width = 100, indent = ''): string {
  const inline = JSON.stringify(value) ?? 'null';
  if (indent.length + inline.length <= width || typeof value !== 'object' || value === null) return inline;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${compactJson(item, width, deeper)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  // Dates and the like define their own JSON form.
  if ('toJSON' in value) return inline;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const fields = entries.map(([name, item]) => `${deeper}${JSON.stringify(name)}: ${compactJson(item, width, deeper)}`);
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

/** One line of at most `width` columns. */
export function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
