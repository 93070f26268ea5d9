/** A query during compilation: the stages so far, and what names mean in the rows that these produce. */
import { call, type Expr, field, literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import type { SelectItem, SqlNode, SqlSubquery } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { aliasHint } from '../parser/dialect-hints.ts';
import { booleans, either, kindOf, kindText, maybeMissing, unfit } from '../types/kind.ts';
import { rootsOf } from './join-plan.ts';
import { asTruth, lower, lowerCall, type Meaning, notText, site } from './lower.ts';
import { type Around, hidden, type Rows } from './rows.ts';
import { fieldsOf, find, resolve, type Scope, type Source, type Typed } from './scope.ts';

export class Block {
  stages: readonly Stage[];
  readonly scope: Scope;
  readonly around: Around;
  /** How many fields subqueries have added to the rows. */
  lookups = 0;
  readonly #meaning: Meaning;

  add(stage: Stage): void {
    this.stages = [...this.stages, stage];
  }

  constructor(stages: readonly Stage[], sources: readonly Source[], around: Around, meaning: Partial<Meaning> = {}) {
    this.stages = [...stages];
    this.scope = { sources, ...(around.outer && { outer: around.outer }) };
    this.around = around;
    this.#meaning = {
      column: (path, at) => resolve(path, at, this.scope),
      aggregate: (node) => {
        throw fault(node.at, `${node.fn} is not allowed here`, 'conditions on aggregates belong in HAVING');
      },
      subquery: (node) => compileSubquery(node, this),
      ...meaning,
    };
  }

  static of(rows: Rows, around: Around): Block {
    return new Block(rows.stages, rows.sources, around);
  }

  lower(node: SqlNode, changed: Partial<Meaning> = {}): Typed {
    return lower(node, { ...this.#meaning, ...changed });
  }

  /** @param items of the SELECT, whose aliases the clause does not know because it is evaluated earlier. */
  filter(node: SqlNode, clause: string, items: readonly SelectItem[]): void {
    const known = this.#meaning.column;
    const column: Meaning['column'] = (path, at) => {
      try {
        return known(path, at);
      } catch (caught) {
        const hint = aliasHint(path[0]!, items, clause);
        const isNear =
          !(caught instanceof QueryError) || hint === undefined || find(path, at, this.scope) !== undefined;
        if (isNear) throw caught;
        throw fault(at, `${path[0]} is an alias of SELECT, which is evaluated after ${clause}`, hint);
      }
    };
    const where = this.condition(node, clause, { column });
    this.stages = filtered(this.stages, where);
  }

  condition(node: SqlNode, clause: string, changed: Partial<Meaning> = {}): Expr {
    const { expr, kind } = asTruth(notText(this.lower(node, changed)));
    if (unfit(kind, ['bool'])) throw fault(node.at, `${clause} takes a condition, found ${kindText(kind)}`);
    return expr;
  }
}

/** The query that contains the subquery: a Block. */
interface Enclosing {
  readonly around: Around;
  readonly scope: Scope;
  /** How many fields subqueries have added to the rows. */
  lookups: number;
  add(stage: Stage): void;
  lower(node: SqlNode): Typed;
}

/** Subqueries in expressions: an earlier stage looks up the answer for each row and puts it into a field of the row. */
function compileSubquery(node: SqlSubquery, block: Enclosing): Typed {
  const left = node.left === undefined ? undefined : block.lower(node.left);
  const captured: [string, Expr][] = [];
  const rows = block.around.compile(node.query, { ...block.around, outer: { scope: block.scope, captured } });
  const as = hidden('s', block.lookups++);
  const value = field(as);
  const add = (gives: (Stage & { k: 'lookup' })['gives'], last: Stage): void => {
    block.add({
      k: 'lookup',
      right: { source: rows.source, stages: [...rows.stages, last] },
      let: captured,
      as,
      gives,
    });
  };
  if (node.how === 'exists') {
    add('exists', { k: 'slice', skip: 0, limit: 1 });
    return { expr: value, kind: kindOf('bool') };
  }
  const column = onlyColumn(node, rows);
  const rest: Stage = { k: 'replace', with: { k: 'doc', fields: [['v', column.expr]] } };
  if (node.how === 'scalar') {
    if (rows.atMost > 1)
      throw fault(node.at, 'a subquery that is used as a value must return at most one row', 'add LIMIT 1');
    add('value', rest);
    return { expr: value, kind: either(maybeMissing(column.kind), kindOf('null')) };
  }
  add('values', rest);
  lowerCall({ fn: node.op!, at: node.at }, [left!, column]);
  const args = [left!.expr, value, literal(node.op!.slice('sql.'.length))];
  return { expr: call(node.how === 'any' ? 'sql.any' : 'sql.all', args, site(node.at)), kind: booleans };
}

function onlyColumn(node: SqlSubquery, rows: Rows): Typed {
  const [source] = rows.sources;
  const names = [...(source?.kind.fields?.keys() ?? [])];
  if (rows.sources.length !== 1 || source!.kind.open === true || names.length !== 1) {
    throw fault(node.at, 'a subquery that is used as values must return one column', 'select one column by its name');
  }
  return fieldsOf({ expr: source!.doc, kind: source!.kind }, names, node.at);
}

/**
 * Moves conditions to the table that they concern, before joins, so that fewer rows are joined and backends see the conditions. The stages
 * followed by a filter, or with its terms where their tables are read.
 */
function filtered(stages: readonly Stage[], where: Expr): Stage[] {
  const last = stages.at(-1);
  if (last?.k !== 'join' && wrappedName(last) === undefined) return [...stages, { k: 'filter', where }];
  const terms = where.k === 'call' && where.fn === 'sql.and' ? where.args : [where];
  let placed = stages;
  const stay: Expr[] = [];
  for (const term of terms) {
    const moved = neverFails(term) ? place(placed, term) : undefined;
    if (moved === undefined) stay.push(term);
    else placed = moved;
  }
  if (stay.length === 0) return [...placed];
  const rest = stay.length === 1 ? stay[0]! : call('sql.and', stay, where.k === 'call' ? where.at : '');
  return [...placed, { k: 'filter', where: rest }];
}

/** Undefined if the condition must stay after the stages. */
function place(stages: readonly Stage[], where: Expr): Stage[] | undefined {
  const last = stages.at(-1);
  const before = stages.slice(0, -1);
  const roots = rootsOf(where);
  if (roots === undefined || roots.size === 0) return undefined;
  const name = wrappedName(last);
  if (name !== undefined) {
    if (roots.size > 1 || !roots.has(name)) return undefined;
    const inner = unwrapped(where);
    return [...(place(before, inner) ?? [...before, { k: 'filter', where: inner }]), last!];
  }
  if (last?.k !== 'join') return undefined;
  if (isWithin(roots, namesOf(before))) {
    const moved = place(before, where);
    return moved && [...moved, last];
  }
  if (last.how === 'left' || !isWithin(roots, namesOf(last.right.stages))) return undefined;
  const right = place(last.right.stages, where);
  return right && [...before, { ...last, right: { ...last.right, stages: right } }];
}

/** The name of the only table, which the stage puts below a field of the row. */
function wrappedName(stage: Stage | undefined): string | undefined {
  if (stage?.k !== 'replace' || stage.with.k !== 'doc' || stage.with.fields.length !== 1) return undefined;
  const [[name, value]] = stage.with.fields as [readonly [string, Expr]];
  return value.k === 'field' && value.path.length === 0 ? name : undefined;
}

function namesOf(stages: readonly Stage[]): readonly string[] {
  const last = stages.at(-1);
  if (last?.k === 'join') return [...namesOf(stages.slice(0, -1)), ...namesOf(last.right.stages)];
  const name = wrappedName(last);
  return name === undefined ? [] : [name];
}

function isWithin(roots: ReadonlySet<string>, names: readonly string[]): boolean {
  return [...roots].every((root) => names.includes(root));
}

/** The condition must not fail over rows that a join would have dropped either. */
function neverFails(expr: Expr): boolean {
  if (expr.k !== 'call') return expr.k === 'field' || expr.k === 'lit' || expr.k === 'var';
  if (/^sql\.(and|or|not)$/.test(expr.fn)) return expr.args.every((arg) => arg.k === 'call' && neverFails(arg));
  return /^sql\.(eq|ne|gt|gte|lt|lte|in|isNull|isMissing|isType)$/.test(expr.fn) && expr.args.every(neverFails);
}

/** Paths without their first name. */
function unwrapped(expr: Expr): Expr {
  switch (expr.k) {
    case 'field':
      return { ...expr, path: expr.path.slice(1) };
    case 'call':
      return { ...expr, args: expr.args.map(unwrapped) };
    case 'doc':
      return { ...expr, fields: expr.fields.map(([name, value]) => [name, unwrapped(value)]) };
    case 'bind':
      return { ...expr, args: expr.args.map(unwrapped), body: unwrapped(expr.body) };
    case 'lit':
    case 'var':
      return expr;
  }
}
