/** Descriptors out of generated Python code: each `…_pb2.py` holds the one of its file as a literal of bytes. */
import { fromBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';

const literal = /AddSerializedFile\(b(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\)/s;

/** @param path for the message of the error if the text has no descriptor */
export function descriptorInPython(text: string, path: string): FileDescriptorProto {
  const found = literal.exec(text);
  const body = found?.[1] ?? found?.[2];
  if (body === undefined) throw new Error(`${path}: expected AddSerializedFile(b'…'), found no such call`);
  return fromBinary(FileDescriptorProtoSchema, bytesOf(body, path));
}

const named: Readonly<Record<string, number>> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 },
  ...{ '\\': 92, "'": 39, '"': 34 },
};

/** The bytes of a Python literal. */
function bytesOf(body: string, path: string): Uint8Array {
  const bytes: number[] = [];
  for (const [token] of body.matchAll(/\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\.|[^\\]/gs)) {
    const escaped = token.slice(1);
    const byte = token.startsWith('\\')
      ? (named[escaped] ??
        (escaped.startsWith('x') ? Number.parseInt(escaped.slice(1), 16) : Number.parseInt(escaped, 8)))
      : (token.codePointAt(0) ?? 0);
    if (!Number.isInteger(byte) || byte > 255) throw new Error(`${path}: expected a byte, found ${token}`);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
