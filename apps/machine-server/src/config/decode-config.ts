/** Decodes the configuration that a cloud answers, a resource at a time: thousands of them at once would hold up the event loop (D48). */
import { create, mergeFromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Steps } from '@platform/base';
import { ConfigResponseSchema, type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { maxAnswerElements, maxMessageDepth, requireFewElements } from '@platform/rpc/client';

/**
 * @param bytes of a ConfigResponse. @returns undefined if it has no configuration @throws resource_exhausted, invalid_argument for too many
 * elements or levels; an error of the decoder
 */
export function* decodeConfig(bytes: Uint8Array): Steps<RobotConfig | undefined> {
  requireFewElements('the configuration', ConfigResponseSchema, { bytes, isJson: false }, maxAnswerElements);
  const { number } = ConfigResponseSchema.field.config;
  let config: RobotConfig | undefined;
  for (const found of fieldsOf(bytes)) {
    if (found.number !== number || found.content === undefined) continue;
    config ??= create(RobotConfigSchema);
    for (const field of fieldsOf(found.content)) {
      mergeFromBinary(RobotConfigSchema, config, field.bytes, { recursionLimit: maxMessageDepth });
      yield;
    }
  }
  return config;
}

interface Field {
  readonly number: number;
  /** All of it. */
  readonly bytes: Uint8Array;
  /** Without tag and length; undefined: it has no length. */
  readonly content: Uint8Array | undefined;
}

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const [number, wireType] = reader.tag();
    const content = wireType === WireType.LengthDelimited ? reader.bytes() : undefined;
    if (content === undefined) reader.skip(wireType, number);
    yield { number, bytes: bytes.subarray(from, reader.pos), content };
  }
}
