/** What JSON weighs in a message: up to eleven bytes for two of its text. */
import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';

/** Public clients take messages of 4 MiB; this is for what users save, the rest for the fields around it. */
export const answerBytes: number = 4 * 1024 * 1024 - 64 * 1024;

/** Bytes as a Struct. @param object finite numbers only */
export function structBytes(object: JsonObject): number {
  return toBinary(StructSchema, fromJson(StructSchema, object)).length;
}
