/** A machine's answers to a call that the cloud repeats, over the live connection of the tab. */
import type { JsonObject } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { live } from './live.svelte.ts';
import type { Polled } from './poll.svelte.ts';
import { type Problem, problemOf } from './problem.ts';

export interface Question {
  readonly partId: string;
  /** A method that only reads, such as `platform.component.sensor.v1.SensorService/GetReadings`. */
  readonly method: string;
  readonly request?: JsonObject;
  /** Between an answer and the next call; default: 1000. */
  readonly everyMs?: number;
}

interface Answered<T> {
  readonly value: T | undefined;
  /** Why the newest call failed; the last value stays. */
  readonly problem: Problem | undefined;
}

/**
 * Call it while a component is being created; it stops when the component is destroyed.
 *
 * @param question runs again when what it reads changes; undefined: no call is made, and the last answer stays
 * @param read turns each answer into a value; `before` is the previous value, or undefined at first
 */
export function answersTo<T>(
  question: () => Question | undefined,
  read: (answer: JsonObject, before: T | undefined) => T,
): Polled<T> {
  const answers = live<Answered<T>>(
    () => {
      const asked = question();
      if (asked === undefined) return undefined;
      const { partId, method, request = {}, everyMs = 0 } = asked;
      return { case: 'answersTo', value: { partId, method, request, everyMs } };
    },
    (content, before) => {
      if (content.case !== 'answer') return before ?? { value: undefined, problem: undefined };
      const { result } = content.value;
      if (result.case === 'message') return { value: read(result.value, before?.value), problem: undefined };
      const problem = problemOf(new ConnectError(result.value?.message ?? '', result.value?.code));
      return { value: before?.value, problem };
    },
  );
  return {
    get value() {
      return answers.value?.value;
    },
    get problem() {
      return answers.value?.problem ?? answers.problem;
    },
    refresh: answers.refresh,
  };
}
