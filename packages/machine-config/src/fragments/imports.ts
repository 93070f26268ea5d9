import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import type { FragmentProblem } from './types.ts';

/** One entry of a document's `fragments`. */
export interface FragmentImport {
  readonly fragmentId: string;
  /** A revision or a tag; '' means the newest. */
  readonly version: string;
  readonly variables: JsonObject;
  /** '' means no prefix. */
  readonly prefix: string;
  /** Its path in the document: `fragments[0]`. */
  readonly path: string;
}

const known = ['id', 'version', 'variables', 'prefix'];
const maxIdLength = 100;

/** The imports of a document, read leniently: an entry with an error is omitted and reported. */
export function readImports(document: JsonObject): {
  imports: readonly FragmentImport[];
  problems: readonly FragmentProblem[];
} {
  const problems: FragmentProblem[] = [];
  const list = isObject(document) ? document['fragments'] : undefined;
  if (list === undefined || list === null) return { imports: [], problems };
  if (!Array.isArray(list)) {
    problems.push({ path: 'fragments', level: 'error', message: `expected a list, found ${formatValue(list)}` });
    return { imports: [], problems };
  }
  const imports = list.flatMap((entry: Json, index) => {
    const found = readImport(entry, `fragments[${index}]`, problems);
    return found === undefined ? [] : [found];
  });
  return { imports, problems };
}

function readImport(entry: Json, path: string, problems: FragmentProblem[]): FragmentImport | undefined {
  const given: JsonObject = typeof entry === 'string' ? { id: entry } : isObject(entry) ? entry : {};
  const { id, version = null, variables = null, prefix = null } = given;
  const wrong = (at: string, expected: string, found: Json | undefined): undefined => {
    problems.push({ path: at, level: 'error', message: `expected ${expected}, found ${formatValue(found)}` });
    return undefined;
  };
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength) {
    const message = `expected the id of a fragment, or an object with "id", found ${formatValue(isObject(entry) ? id : entry)}`;
    problems.push({ path, level: 'error', message, fault: 'child_id_invalid' });
    return undefined;
  }
  for (const key of Object.keys(given))
    if (!known.includes(key)) {
      const message = `expected one of ${known.join(', ')}, found "${key.slice(0, 64)}": it is ignored`;
      problems.push({ path: `${path}.${key}`, level: 'warning', message });
    }
  if (version !== null && typeof version !== 'string' && typeof version !== 'number')
    return wrong(`${path}.version`, 'a revision or a tag', version);
  if (variables !== null && !isObject(variables)) return wrong(`${path}.variables`, 'an object', variables);
  if (prefix !== null && (typeof prefix !== 'string' || prefix.includes('/') || prefix.length > maxIdLength))
    return wrong(`${path}.prefix`, `at most ${maxIdLength} characters without "/"`, prefix);
  const asked = version === null ? '' : String(version);
  return {
    fragmentId: id,
    version: asked === 'latest' ? '' : asked,
    variables: variables ?? {},
    prefix: prefix ?? '',
    path,
  };
}
