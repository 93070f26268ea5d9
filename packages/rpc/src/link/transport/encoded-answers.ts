/** Calls whose answers stay encoded, for those so large that decoding them must not hold up the event loop (D48). */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type BytesValue, BytesValueSchema } from '@bufbuild/protobuf/wkt';
import type { Link } from '../connect.ts';

/** Calls a unary method; its request is the one of the method. */
export type EncodedCall = (request: object, options?: { readonly signal?: AbortSignal }) => Promise<Uint8Array>;

/** The method with the encoded answer as its result. Its elements are not counted, because it is not decoded. */
export function encodedCall(link: Pick<Link, 'client'>, method: DescMethod): EncodedCall {
  const twin = { ...method, output: BytesValueSchema } as DescMethod;
  const service = { ...method.parent, methods: [twin], method: { [method.localName]: twin } } as DescService;
  const client = link.client(service) as unknown as Readonly<
    Record<string, (request: object, options?: object) => Promise<BytesValue>>
  >;
  return async (request, options) => (await client[method.localName]?.(request, options))?.value ?? new Uint8Array();
}

/** Whether the answer of the method is put into a BytesValue, as received. */
export function keepsEncoded({ output }: DescMethod): boolean {
  return output === BytesValueSchema;
}
