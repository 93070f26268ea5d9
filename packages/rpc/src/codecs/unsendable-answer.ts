/** Answers that a codec cannot encode: the reason is logged, and the peer does not see it (D37). */
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { isInterpreted } from '../core/errors.ts';

/**
 * A codec that fails aborts its call with the error that it is about to send, and reads code and text from it afterwards. Listening to its
 * signal does not suffice: the signal may have been aborted earlier, without a reason.
 *
 * @param context as the gate gets it; methods get a copy.
 */
export function hideUnsendable(context: HandlerContext, interpret: (caught: ConnectError) => ConnectError): void {
  const controller = context as HandlerContext & { abort(reason?: unknown): void };
  const { abort } = controller;
  controller.abort = (reason) => {
    abort(reason);
    // A request that does not decode is the client's fault, and no longer INTERNAL.
    if (!(reason instanceof ConnectError) || reason.code !== Code.Internal || isInterpreted(reason)) return;
    const { rawMessage, message } = interpret(reason);
    Object.assign(reason, { rawMessage, message });
  };
}
