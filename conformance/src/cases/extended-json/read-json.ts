/** Parses JSON into plain values, objects as maps: `JSON.parse` would move keys that look like integers to the front. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

const stringOrKey = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** @throws SyntaxError */
export function readJson(text: string): Json {
  // A space before each key: none looks like an integer.
  const spaced = text.replace(stringOrKey, (quoted, colon) => (colon === undefined ? quoted : `" ${quoted.slice(1)}`));
  return JSON.parse(spaced, (_key, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) return value;
    return new Map(Object.entries(value).map(([key, held]) => [key.slice(1), held]));
  });
}
