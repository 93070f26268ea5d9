/** Errors of values say in which stage of the user's pipeline they arose, as errors of reading it do. */

import type { Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { engineLimitError } from './limits/engine-limit-error.ts';
import type { Rows } from './row.ts';
import { parallelArrays } from './stages/sort-keys.ts';

/** Of the query as a whole, in whichever stage they are noticed. */
const ofAll: ReadonlySet<string> = new Set(['Interrupted', 'MaxTimeMSExpired', 'ExceededTimeLimit']);

/** Runs what one stage does at once. @throws what it throws, with the place of the stage */
export function inStage<T>(stage: Stage, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw placed(stage, error);
  }
}

/** What a chain of stages reads; its errors are none of theirs. */
export class Origin {
  readonly #foreign: WeakSet<object> = new WeakSet();

  async *rows<T>(input: AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* input;
    } catch (error) {
      if (typeof error === 'object' && error !== null) this.#foreign.add(error);
      throw error;
    }
  }

  /** @param rows what the stage gives, and all before it. @throws what they throw, with the place of the stage if it had none */
  async *through(stage: Stage, rows: Rows): Rows {
    try {
      yield* rows;
    } catch (error) {
      const isForeign = typeof error === 'object' && error !== null && this.#foreign.has(error);
      throw isForeign ? error : placed(stage, error);
    }
  }
}

function placed(stage: Stage, caught: unknown): unknown {
  if (stage.at === undefined) return caught;
  const error = engineLimitError(caught);
  if (!(error instanceof QueryError) || error.stage !== undefined || ofAll.has(error.codeName)) return error;
  const isOfSort = (stage.k === 'group' || stage.k === 'merge') && error.reason === parallelArrays;
  return error.at(isOfSort && stage.sortAt !== undefined ? stage.sortAt : stage.at);
}
