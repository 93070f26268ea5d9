/** Reads source maps (ECMA-426). */

export interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

interface Place {
  /** Both count from 1, as in stack traces. */
  readonly line: number;
  readonly column: number;
}

const digits = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((char, at) => [char.charCodeAt(0), at]),
);
const [comma, semicolon] = [44, 59];

/**
 * For each place in generated code `source:line:column`, without leading `../`; undefined where the map has none. The mappings are read once,
 * up to the last place, and nothing of them is kept: they are long, and traces are rare.
 */
export function originalPlaces({ sources, mappings }: SourceMap, places: readonly Place[]): (string | undefined)[] {
  const found = places.map((): string | undefined => undefined);
  const waiting = places
    .map(({ line, column }, at) => ({ line: line - 1, column: column - 1, at }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  let next = 0;
  let generatedLine = 0;
  // The fields of the current segment: generated column, source, original line, original column; each is relative to the one before.
  const fields = [0, 0, 0, 0, 0];
  let field = 0;
  let [value, shift] = [0, 0];
  /** The last segment of this line with an original place. */
  let original: string | undefined;
  const pass = (line: number, column: number): void => {
    for (
      let one = waiting[next];
      one !== undefined && (one.line < line || (one.line === line && one.column < column));
      one = waiting[++next]
    )
      found[one.at] = original;
  };
  for (let at = 0; at <= mappings.length && next < waiting.length; at++) {
    const code = at === mappings.length ? semicolon : mappings.charCodeAt(at);
    if (code !== comma && code !== semicolon) {
      const digit = digits.get(code) ?? 0;
      value += (digit & 31) << shift;
      shift += 5;
      if ((digit & 32) !== 0) continue;
      fields[field] = (fields[field] ?? 0) + (value & 1 ? -(value >>> 1) : value >>> 1);
      field++;
      [value, shift] = [0, 0];
      continue;
    }
    if (field > 0) {
      const [column = 0, source = 0, line = 0, originalColumn = 0] = fields;
      pass(generatedLine, column);
      // Only near the places: there are hundreds of thousands of segments.
      if (waiting[next]?.line === generatedLine)
        original =
          field > 1
            ? `${(sources[source] ?? '').replace(/^(\.\.\/)+/, '')}:${line + 1}:${originalColumn + 1}`
            : undefined;
    }
    field = 0;
    if (code === semicolon) {
      pass(generatedLine, Number.POSITIVE_INFINITY);
      generatedLine++;
      fields[0] = 0;
      original = undefined;
    }
  }
  return found;
}
