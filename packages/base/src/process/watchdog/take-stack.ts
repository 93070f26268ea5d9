/** Takes the stack of the main thread from another thread, also while it spins in JavaScript. The main thread then stays paused. */
import { type Debugger, Session } from 'node:inspector';
import { systemClock } from '../../async/clock.ts';
import { inSources } from '../stacks/in-sources.ts';

export interface MainStack {
  /** The innermost function first: `name (file:line:column)`. */
  readonly frames: readonly string[];
  /** Value of the expression, if it is a text. */
  readonly value: string | undefined;
}

const maxFrames = 40;

/**
 * @param expression evaluated on the main thread, in the function that it is in
 * @param waitMs how long native code may run until it returns to JavaScript
 * @returns undefined if it did not
 */
export function takeMainStack(expression: string, waitMs: number): Promise<MainStack | undefined> {
  const { promise, resolve } = Promise.withResolvers<MainStack | undefined>();
  const session = new Session();
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void files.set(scriptId, url));
  let frames: readonly string[] | undefined;
  // It also keeps a thread alive that does nothing else.
  const late = systemClock.after(waitMs, () => resolve(frames && { frames, value: undefined }));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const places = callFrames
      .slice(0, maxFrames)
      .map(
        ({ functionName, location: { scriptId, lineNumber, columnNumber = 0 } }) =>
          `${functionName || '(anonymous)'} (${files.get(scriptId) ?? ''}:${lineNumber + 1}:${columnNumber + 1})`,
      );
    frames = inSources(places);
    const callFrameId = callFrames[0]?.callFrameId ?? '';
    const asked = { callFrameId, expression, returnByValue: true, silent: true };
    session.post('Debugger.evaluateOnCallFrame', asked, (_error, answer?: Debugger.EvaluateOnCallFrameReturnType) => {
      const value: unknown = answer?.result.value;
      resolve({ frames: frames ?? [], value: typeof value === 'string' ? value : undefined });
    });
  });
  session.connectToMainThread();
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  return promise.finally(() => late[Symbol.dispose]());
}
