/** A machine's answers to a call that is repeated: the cloud repeats it, or, while there is a path without the cloud, this page. */
import type { JsonObject } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base/clock';
import { untrack } from 'svelte';
import { answersTo, type Question } from '../../api/answers.svelte.ts';
import type { Polled } from '../../api/poll.svelte.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { PathState } from './machine-paths.ts';
import { callMachine } from './open-paths.svelte.ts';

const defaultMs = 1_000;
const timeoutMs = 20_000;

/** As `answersTo`. The value stays when the path changes. @param path of new calls */
export function machineAnswers<T>(
  path: () => PathState['path'],
  question: () => Question | undefined,
  read: (answer: JsonObject, before: T | undefined) => T,
): Polled<T> {
  let value = $state.raw<T>();
  let problem = $state.raw<Problem>();
  let again = $state(0);
  const take = (answer: JsonObject): T => {
    const next = read(
      answer,
      untrack(() => value),
    );
    value = next;
    return next;
  };
  const isDirect = $derived(path() === 'direct' || path() === 'turn');
  // As text, so that equal questions compare as equal.
  const asked = $derived(JSON.stringify(question()) ?? '');
  const throughCloud = answersTo<T>(() => (isDirect ? undefined : question()), take);
  $effect(() => {
    void again;
    problem = undefined;
    if (!isDirect || asked === '') return undefined;
    const { partId, method, request = {}, everyMs = 0 } = JSON.parse(asked) as Question;
    const over = new AbortController();
    let timer: Disposable | undefined;
    const ask = async (): Promise<void> => {
      if (document.hidden) {
        timer = systemClock.after(defaultMs, ask);
        return;
      }
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(timeoutMs)]);
      try {
        const answer = await callMachine(partId, method, request, { signal });
        if (over.signal.aborted) return;
        take(answer);
        problem = undefined;
      } catch (caught) {
        if (over.signal.aborted) return;
        problem = problemOf(caught);
      }
      timer = systemClock.after(everyMs === 0 ? defaultMs : everyMs, ask);
    };
    void ask();
    return () => {
      over.abort();
      timer?.[Symbol.dispose]();
    };
  });
  return {
    get value() {
      return value;
    },
    get problem() {
      return isDirect ? problem : throughCloud.problem;
    },
    refresh() {
      if (isDirect) again += 1;
      else throughCloud.refresh();
    },
  };
}
