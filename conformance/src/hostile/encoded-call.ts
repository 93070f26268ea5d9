import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { CanaryOptions } from '../faults/canary.ts';

/** A call of a canary. @param path `/package.Service/Method` */
export function encodedCall<D extends DescMessage>(
  path: string,
  schema: D,
  message: MessageInitShape<D>,
): CanaryOptions['calls'][number] {
  return { path, message: Buffer.from(toBinary(schema, create(schema, message))).toString('base64') };
}
