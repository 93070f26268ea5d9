/** A service with every kind of streaming, over well-known messages; for tests of the transports only. */
import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type StringValueSchema,
} from '@bufbuild/protobuf/wkt';

type Text = typeof StringValueSchema;

const text = { inputType: '.google.protobuf.StringValue', outputType: '.google.protobuf.StringValue' };

const file = create(FileDescriptorProtoSchema, {
  name: 'platform/test/v1/echo.proto',
  package: 'platform.test.v1',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [
    {
      name: 'EchoService',
      method: [
        { name: 'Say', ...text },
        { name: 'Join', ...text, clientStreaming: true },
        { name: 'Split', ...text, serverStreaming: true },
        { name: 'Chat', ...text, clientStreaming: true, serverStreaming: true },
        { name: 'Missing', ...text },
      ],
    },
  ],
});

const service = createFileRegistry(file, () => file_google_protobuf_wrappers).getService(
  'platform.test.v1.EchoService',
);

export const EchoService = service as unknown as GenService<{
  say: { methodKind: 'unary'; input: Text; output: Text };
  join: { methodKind: 'client_streaming'; input: Text; output: Text };
  split: { methodKind: 'server_streaming'; input: Text; output: Text };
  chat: { methodKind: 'bidi_streaming'; input: Text; output: Text };
  missing: { methodKind: 'unary'; input: Text; output: Text };
}>;
