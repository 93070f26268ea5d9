/** A query during compilation: the stages so far, and what names mean in the rows that these produce. */

import type { Expr } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import type { SelectItem, SqlNode } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { aliasHint } from '../parser/dialect-hints.ts';
import { kindText, unfit } from '../types/kind.ts';
import { asTruth, lower, type Meaning, notText } from './lower.ts';
import { filtered } from './push-conditions.ts';
import type { Around, Rows } from './rows.ts';
import { find, resolve, type Scope, type Source, type Typed } from './scope.ts';
import { compileSubquery } from './subquery-plan.ts';

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
