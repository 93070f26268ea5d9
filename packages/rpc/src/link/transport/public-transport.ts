/** The compatibility edge of a client: calls a peer that knows only the public names (`/viam.…`, `rdk:…`). */
import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { peerTypeName } from '../../edge/alias.ts';
import { canonicalise, inVocabulary } from '../../edge/translate-message.ts';

export function publicTransport(inner: Transport): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const request = spelled(method.input, input);
      const answer = await inner.unary(publicly(method), signal, timeoutMs, header, request, contextValues);
      return { ...answer, message: canonicalise(method.output, answer.message) };
    },
    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const requests = each(input, (message) => spelled(method.input, message));
      const answer = await inner.stream(publicly(method), signal, timeoutMs, header, requests, contextValues);
      return { ...answer, message: each(answer.message, (message) => canonicalise(method.output, message)) };
    },
  };
}

function spelled<D extends DescMessage>(schema: D, message: MessageInitShape<D>): MessageInitShape<D> {
  // A translated message is one of the same type.
  return inVocabulary('rdk', schema, create(schema, message) as MessageShape<D>) as MessageInitShape<D>;
}

/** The method, with its service under its public name. */
function publicly<M extends DescMethod>(method: M): M {
  const { parent } = method;
  return { ...method, parent: { ...parent, typeName: peerTypeName(parent.typeName, 'rdk') } };
}

async function* each<T, U>(items: AsyncIterable<T>, change: (item: T) => U): AsyncGenerator<U, void> {
  for await (const item of items) yield change(item);
}
