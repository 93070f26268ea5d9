/** Size of JSON in a message: up to eleven bytes for two bytes of its text. */
import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';

/** Public clients accept messages of 4 MiB; this much is for user data, the rest for the fields around it. */
export const answerBytes: number = 4 * 1024 * 1024 - 64 * 1024;

/** Size as a Struct. @param object must contain only finite numbers */
export function structBytes(object: JsonObject): number {
  return toBinary(StructSchema, fromJson(StructSchema, object)).length;
}
