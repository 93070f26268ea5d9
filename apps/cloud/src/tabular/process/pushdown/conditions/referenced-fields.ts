/** The fields that an expression reads; undefined when it may read all of them, or the current time or a random value. */
import { type Expr, functions, type Path } from '@platform/query';

export function referencedFields(expr: Expr): readonly Path[] | undefined {
  const found: Path[] = [];
  return collect(expr, found, []) ? found : undefined;
}

const ofWholeRows: ReadonlySet<string> = new Set(['match.sampleRate', 'match.jsonSchema', 'match.text']);

/** Maximum nesting depth; deeper expressions are left to the executor. */
const maxDepth = 100;

function collect(expr: Expr, found: Path[], vars: readonly string[], depth = 0): boolean {
  if (depth > maxDepth) return false;
  const all = (parts: readonly Expr[], names = vars): boolean =>
    parts.every((part) => collect(part, found, names, depth + 1));
  switch (expr.k) {
    case 'lit':
      return true;
    case 'field':
      found.push(expr.path);
      return expr.path.length > 0;
    case 'var':
      if (vars.includes(expr.name)) return true;
      found.push(expr.path);
      return (expr.name === 'ROOT' || expr.name === 'CURRENT') && expr.path.length > 0;
    case 'doc':
      return all(expr.fields.map(([, value]) => value));
    case 'call':
      return !ofWholeRows.has(expr.fn) && functions.get(expr.fn)?.volatile !== true && all(expr.args);
    case 'bind':
      // An $elemMatch reads fields of the elements.
      return all(expr.args) && (expr.fn === 'match.elem' || all([expr.body], [...vars, ...expr.vars]));
  }
}
