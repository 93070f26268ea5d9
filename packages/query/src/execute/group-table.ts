/** The groups of a stage while they are folded. */

import { compareValues } from '../bson/compare.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import type { Into } from '../plan/stage.ts';
import { type CompiledInto, compileInto } from './accumulators/compile-into.ts';
import type { Fold } from './accumulators/fold.ts';
import type { Budget } from './budget.ts';
import { KeyMap } from './key-map.ts';
import type { Row } from './row.ts';
import type { Frame } from './scope.ts';

interface Group {
  /** That of the first row. */
  readonly key: BsonValue;
  readonly folds: readonly Fold[];
}

const chunkRows = 1000;

export class GroupTable {
  readonly #groups = new KeyMap<Group>();
  readonly #into: CompiledInto;
  readonly #hold: (bytes: number) => void;

  constructor(into: Into, budget: Budget) {
    this.#hold = (bytes) => budget.hold(bytes, '$group');
    this.#into = compileInto(into, budget, this.#hold);
  }

  /** @param frame has entered the row. */
  add(key: Maybe, frame: Frame, row: BsonDocument): void {
    this.#into.add(this.#at(key).folds, frame, row);
  }

  merge(partial: BsonDocument): void {
    this.#into.merge(this.#at(partial.get('_id')).folds, partial);
  }

  openIfEmpty(): void {
    if (this.#groups.all.length === 0) this.#at(null);
  }

  /** In the order of their first rows. */
  whole(): Generator<Row[]> {
    return this.#rows(this.#groups.all, this.#into.result);
  }

  /** As in plan/partial-state.ts. */
  partial(): Generator<Row[]> {
    return this.#rows(this.#groups.all, this.#into.partial);
  }

  /** In the order of their keys. */
  sorted(): Generator<Row[]> {
    return this.#rows(
      this.#groups.all.toSorted((left, right) => compareValues(left.key, right.key)),
      this.#into.result,
    );
  }

  #at(key: Maybe): Group {
    const found = this.#groups.get(key ?? null);
    if (found !== undefined) return found;
    const group = { key: key ?? null, folds: this.#into.open(key) };
    this.#hold(200 + this.#groups.set(group.key, group) * 2);
    return group;
  }

  *#rows(groups: readonly Group[], write: CompiledInto['result']): Generator<Row[]> {
    let chunk: Row[] = [];
    for (const { key, folds } of groups) {
      const document = new BsonDocument([['_id', key]]);
      write(folds, document);
      if (chunk.push({ document }) < chunkRows) continue;
      yield chunk;
      chunk = [];
    }
    if (chunk.length > 0) yield chunk;
  }
}
