/** UNWIND(source WITH PATH => a.b, …): which arrays become rows, and the names of their items' indexes. */
import type { From, UnwindStep } from './ast.ts';
import { type Cursor, fault, listed } from './cursor.ts';
import type { Token } from './lex.ts';

const hint = 'e.g. UNWIND(readings WITH PATH => tags)';
/** Maximum for one UNWIND, over all its paths. */
const maxArrays = 100;

interface Options {
  index?: string;
  outer?: boolean;
}

/** A name, and the options in each pair of brackets after it: `a[]` is an array, `a[][]` an array of arrays. */
interface Part {
  readonly name: string;
  readonly unwound: readonly Options[];
}

interface Written {
  readonly parts: readonly Part[];
  readonly at: Token;
}

export function parseUnwind(cursor: Cursor, source: () => From): From {
  const at = cursor.expect('(', 'after UNWIND');
  const of = cursor.nested(source);
  if (!cursor.take('WITH')) throw cursor.unexpected('WITH before the options of UNWIND', ['WITH'], hint);
  const given = new Set<string>();
  const all: Options = {};
  let paths: Written[] = [];
  do {
    once(cursor, given);
    if (cursor.take('PATH') || cursor.take('PATHS')) {
      arrow(cursor);
      paths = parsePaths(cursor);
    } else if (!takeOption(cursor, all)) {
      throw cursor.unexpected('PATH, PATHS, INDEX or OUTER', ['PATH', 'PATHS', 'INDEX', 'OUTER']);
    }
  } while (cursor.take(','));
  cursor.expect(')', 'to close UNWIND');
  if (paths.length === 0) throw fault(at, 'UNWIND needs PATH', hint);
  const isPlain = paths.length === 1 && paths[0]!.parts.every(({ unwound }) => unwound.length === 0);
  const arrays = paths.reduce(
    (sum, { parts }) => sum + parts.reduce((each, { unwound }) => each + unwound.length, 0),
    0,
  );
  if (arrays > maxArrays) throw fault(at, `UNWIND can unwind at most ${maxArrays} arrays, found ${arrays}`);
  return { k: 'unwind', of, paths: paths.map((path) => ({ steps: stepsOf(path, all, isPlain), at: path.at })), at };
}

function parsePaths(cursor: Cursor): Written[] {
  if (!cursor.take('(')) return [parsePath(cursor)];
  const paths = listed(cursor, 'PATHS', maxArrays, () => parsePath(cursor));
  cursor.expect(')', 'after the paths');
  return paths;
}

function parsePath(cursor: Cursor): Written {
  const at = cursor.peek();
  const parts: Part[] = [];
  do {
    const isFirst = parts.length === 0;
    const name = !isFirst && cursor.peek().kind === 'word' ? cursor.next().text : cursor.name('a path');
    const unwound: Options[] = [];
    while (cursor.take('[')) {
      const options: Options = {};
      const given = new Set<string>();
      while (!cursor.is(']')) {
        once(cursor, given);
        if (!takeOption(cursor, options)) throw cursor.unexpected('INDEX, OUTER or ]', ['INDEX', 'OUTER']);
        if (!cursor.take(',')) break;
      }
      cursor.expect(']', 'to close the bracket');
      unwound.push(options);
    }
    parts.push({ name, unwound });
  } while (cursor.take('.'));
  return { parts, at };
}

/** INDEX => name or OUTER => TRUE. */
function takeOption(cursor: Cursor, into: Options): boolean {
  if (cursor.take('INDEX')) {
    arrow(cursor);
    into.index = cursor.name('the name of the index');
    return true;
  }
  if (!cursor.take('OUTER')) return false;
  arrow(cursor);
  into.outer = cursor.take('TRUE');
  if (!into.outer) cursor.expect('FALSE', 'or TRUE as the value of OUTER');
  return true;
}

/**
 * @param isPlain whether this is the clause's only path, without brackets: INDEX then names its index, otherwise the suffix of the index.
 */
function stepsOf({ parts }: Written, all: Options, isPlain: boolean): readonly UnwindStep[] {
  const steps: UnwindStep[] = [];
  const path: string[] = [];
  for (const [place, { name, unwound }] of parts.entries()) {
    path.push(name);
    // The end of a path is an array even without brackets.
    const each: readonly Options[] = unwound.length === 0 && place === parts.length - 1 ? [{}] : unwound;
    let prefix = path.join('_');
    for (const [level, { index, outer }] of each.entries()) {
      if (level > 0) prefix += String(level - 1);
      const shared = all.index === undefined || isPlain ? all.index : `${prefix}_${all.index}`;
      const named = index ?? shared;
      steps.push({ path: [...path], ...(named !== undefined && { index: named }), outer: outer ?? all.outer ?? false });
    }
  }
  return steps;
}

/** Options that are given by name, such as `WITH PATH => tags`. At the name of an option. @throws QueryError if it was already given. */
export function once(cursor: Cursor, given: Set<string>): void {
  const name = cursor
    .peek()
    .text.toUpperCase()
    .replace(/^PATHS$/, 'PATH');
  if (given.has(name)) throw fault(cursor.peek(), `${name} occurs twice`);
  given.add(name);
}

export function arrow(cursor: Cursor): void {
  cursor.expect('=>', 'before the value of the option');
}
