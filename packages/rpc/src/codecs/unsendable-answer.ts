/** Answers that a codec cannot encode: their reason is for the log, not for the peer (D37). */
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { isInterpreted } from '../core/errors.ts';

/**
 * A codec that fails aborts its call with the error that it is about to answer, and reads code and text from it afterwards.
 * Its signal does not tell: it may have been aborted before, without a reason.
 *
 * @param context as the gate gets it; methods get a copy.
 */
export function hideUnsendable(context: HandlerContext, interpret: (caught: ConnectError) => ConnectError): void {
  const controller = context as HandlerContext & { abort(reason?: unknown): void };
  const { abort } = controller;
  controller.abort = (reason) => {
    abort(reason);
    // A request that does not decode is the client's fault, and not INTERNAL any more.
    if (!(reason instanceof ConnectError) || reason.code !== Code.Internal || isInterpreted(reason)) return;
    const { rawMessage, message } = interpret(reason);
    Object.assign(reason, { rawMessage, message });
  };
}
