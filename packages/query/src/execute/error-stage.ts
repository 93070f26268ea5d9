/** Errors about values name the stage of the user's pipeline where they arose, like parse errors. */
import type { Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { Rows } from './row.ts';
import { parallelArrays } from './stages/sort-keys.ts';

/** Errors of the query as a whole, whichever stage notices them. */
const ofAll: ReadonlySet<string> = new Set(['Interrupted', 'MaxTimeMSExpired', 'ExceededTimeLimit']);

/** Runs one synchronous action of a stage. @throws its errors, with the position of the stage */
export function inStage<T>(stage: Stage, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw placed(stage, error);
  }
}

/** What a chain of stages reads; its errors do not belong to the stages. */
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

  /** @param rows the output of the stage and all before it. @throws their errors, with the position of the stage if they had none */
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

/**
 * Turns errors of the JavaScript engine's limits into query errors. Limits on texts, arrays and the stack: the query asked for too much,
 * but nothing is broken.
 */
export function engineLimitError(caught: unknown): unknown {
  if (!(caught instanceof RangeError)) return caught;
  const isStack = caught.message.includes('call stack');
  const reason = isStack
    ? 'the query or its values are nested too deeply to be evaluated'
    : `the query needs more memory than is available (${caught.message})`;
  return new QueryError('ExceededMemoryLimit', reason, {
    hint: 'build smaller strings, arrays and documents, and nest them less deeply',
  });
}
