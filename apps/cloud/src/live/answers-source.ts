/** A machine's answers to a call that is repeated for one reader. */
import type { JsonObject } from '@bufbuild/protobuf';
import { type Clock, codes, type PlatformError } from '@platform/base';
import type { RepeatedCall } from '@platform/proto/platform/live/v1/live';
import type { CloudCall, Principal } from '../access/principal.ts';
import { defaultCallMs, failedCallMs, fastestCallMs, slowestCallMs } from './limits.ts';
import type { Content, Source } from './source.ts';

interface Question {
  readonly partId: string;
  readonly method: string;
  readonly request: JsonObject;
}

export interface AnswersSourceDeps {
  /** Sends calls to machines. */
  readonly questions: {
    authorize(question: Question, principal: Principal): void;
    ask(question: Question, call: CloudCall): Promise<JsonObject>;
  };
  readonly clock: Clock;
}

/** @param report converts an error to the text for the reader */
export function answersSource(
  { questions, clock }: AnswersSourceDeps,
  { partId, method, request = {}, everyMs }: RepeatedCall,
  report: (caught: unknown) => PlatformError,
): Source {
  const question = { partId, method, request };
  const pauseMs = Math.min(slowestCallMs, Math.max(fastestCallMs, everyMs || defaultCallMs));
  return {
    authorize: (principal) => questions.authorize(question, principal),
    async *contents({ call, signal }) {
      for (;;) {
        const answer = await answerOf(() => questions.ask(question, call()), report);
        if (signal.aborted) return;
        yield answer;
        const hasFailed = answer.value.result.case === 'failed';
        await clock.sleep(hasFailed ? Math.max(failedCallMs, pauseMs) : pauseMs, signal);
      }
    },
  };
}

type AnswerContent = Extract<Content, { case: 'answer' }> & { value: { result: { case: 'message' | 'failed' } } };

async function answerOf(
  ask: () => Promise<JsonObject>,
  report: (caught: unknown) => PlatformError,
): Promise<AnswerContent> {
  try {
    return { case: 'answer', value: { result: { case: 'message', value: await ask() } } };
  } catch (caught) {
    const { code, message } = report(caught);
    return { case: 'answer', value: { result: { case: 'failed', value: { code: codes[code], message } } } };
  }
}
