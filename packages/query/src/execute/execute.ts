/** The executor: the reference for the meaning of a plan. */
import type { Batch } from '../bson/batch.ts';
import { fieldsRead } from '../plan/fields-read.ts';
import { plansIn } from '../plan/sources-of.ts';
import type { Stage } from '../plan/stage.ts';
import { engineLimitError } from './error-stage.ts';
import { Budget, type Limits } from './limits/budget.ts';
import { readRows } from './read-rows.ts';
import { type Input, runStages } from './run-stages.ts';
import { writeBatches } from './write-batches.ts';

/** @throws QueryError while iterating: for a refused value, a limit, the deadline, the signal. */
export async function* execute(
  stages: readonly Stage[],
  input: Input,
  limits: Limits = {},
): AsyncGenerator<Batch, void, undefined> {
  const budget = new Budget(limits);
  try {
    // Without other sources, all parts of the plan read the same rows.
    const shared = limits.open === undefined && plansIn(stages).length > 0 ? new SharedInput(input, budget) : undefined;
    const open = (source: string): Input => (source === 'none' ? [] : (shared ?? budget.open(source)));
    const rows = readRows(fieldsRead(stages), shared ?? input, budget);
    yield* writeBatches(runStages(stages, rows, budget, open), budget, limits);
  } catch (caught) {
    throw engineLimitError(caught);
  }
}

/** The input of a plan that reads it in several places: buffered while it is read, so that each place gets all of it. */
class SharedInput implements AsyncIterable<Batch> {
  readonly #source: AsyncIterator<Batch> | Iterator<Batch>;
  readonly #budget: Budget;
  readonly #kept: Batch[] = [];
  #reading: Promise<boolean> | undefined;

  constructor(input: AsyncIterable<Batch> | Iterable<Batch>, budget: Budget) {
    this.#source = Symbol.asyncIterator in input ? input[Symbol.asyncIterator]() : input[Symbol.iterator]();
    this.#budget = budget;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch> {
    for (let index = 0; ; index++) {
      while (index >= this.#kept.length) {
        this.#reading ??= this.#readNext();
        if (!(await this.#reading)) return;
      }
      yield this.#kept[index]!;
    }
  }

  /** False at the end of the input. */
  async #readNext(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#budget.hold(next.value.bytes.length + next.value.ends.byteLength, 'JOIN, UNION or a subquery');
    this.#kept.push(next.value);
    this.#reading = undefined;
    return true;
  }
}
