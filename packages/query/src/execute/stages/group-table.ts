/** The groups of a stage while they are folded. */

import { chunks } from '@platform/base';
import { type CompiledAccumulators, compileAccumulators } from '../../accumulators/compile-accumulators.ts';
import type { Fold } from '../../accumulators/fold.ts';
import { compareValues } from '../../bson/compare.ts';
import { valueKey } from '../../bson/key.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { AccumulatorFields } from '../../plan/accumulator.ts';
import type { Expr } from '../../plan/expr.ts';
import { compileExpression } from '../expressions/expression.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';
import { KeyMap } from '../key-map.ts';
import type { Budget } from '../limits/budget.ts';
import { withinSizeLimits } from '../limits/size-limits.ts';
import type { Row } from '../row.ts';

interface Group {
  /** The key of the first row. */
  readonly key: BsonValue;
  readonly folds: readonly Fold[];
}

const chunkRows = 1000;

export class GroupTable {
  readonly #groups = new KeyMap<Group>();
  readonly #keyOf: Evaluate;
  /** The fields of a document key: they identify it without building one for each row. */
  readonly #parts: readonly (readonly [string, Evaluate])[];
  /** The values of the last row. */
  readonly #values: Maybe[] = [];
  readonly #accumulators: CompiledAccumulators;
  readonly #hold: (bytes: number) => void;

  constructor(key: Expr, accumulators: AccumulatorFields, budget: Budget) {
    this.#hold = (bytes) => budget.hold(bytes, '$group');
    this.#keyOf = compileExpression(key);
    const fields = key.k === 'doc' ? key.fields : [];
    this.#parts = fields.map(([name, value]) => [name, compileExpression(value)]);
    this.#accumulators = compileAccumulators(accumulators, budget, this.#hold);
  }

  /** @param frame has entered the row. */
  add(frame: Frame, row: BsonDocument): void {
    this.#accumulators.add(this.#ofRow(frame).folds, frame, row);
  }

  merge(partial: BsonDocument): void {
    this.#accumulators.merge(this.#ofKey(partial.get('_id') ?? null).folds, partial);
  }

  /** In the order of their first rows. */
  whole(): Generator<Row[]> {
    return this.#rows(this.#groups.all, this.#accumulators.result);
  }

  /** As described in plan/partial-state.ts. */
  partial(): Generator<Row[]> {
    return this.#rows(this.#groups.all, this.#accumulators.partial);
  }

  /** In the order of their keys. */
  sorted(): Generator<Row[]> {
    return this.#rows(
      this.#groups.all.toSorted((left, right) => compareValues(left.key, right.key)),
      this.#accumulators.result,
    );
  }

  #ofRow(frame: Frame): Group {
    if (this.#parts.length === 0) return this.#ofKey(this.#keyOf(frame) ?? null);
    let id = '';
    for (let index = 0; index < this.#parts.length; index++) {
      const value = this.#parts[index]![1](frame);
      this.#values[index] = value;
      id += partKey(value);
    }
    return this.#groups.getById(id) ?? this.#open(withinSizeLimits(frame, this.#document()), id);
  }

  #document(): BsonDocument {
    const key = new BsonDocument();
    for (const [index, [name]] of this.#parts.entries()) {
      const value = this.#values[index];
      if (value !== undefined) key.set(name, value);
    }
    return key;
  }

  #ofKey(key: BsonValue): Group {
    if (this.#parts.length === 0 || !(key instanceof BsonDocument)) return this.#groups.get(key) ?? this.#open(key);
    let id = '';
    for (const [name] of this.#parts) id += partKey(key.get(name));
    return this.#groups.getById(id) ?? this.#open(key, id);
  }

  #open(key: BsonValue, id?: string): Group {
    const group = { key, folds: this.#accumulators.open(key) };
    this.#hold(200 + this.#groups.set(key, group, id) * 2);
    return group;
  }

  *#rows(groups: readonly Group[], write: CompiledAccumulators['result']): Generator<Row[]> {
    for (const some of chunks(groups, chunkRows))
      yield some.map(({ key, folds }) => {
        const document = new BsonDocument([['_id', key]]);
        write(folds, document);
        return { document };
      });
  }
}

function partKey(value: Maybe): string {
  return value === undefined ? '-' : valueKey(value);
}
