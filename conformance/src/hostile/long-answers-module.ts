/** A module whose answers are as expensive as they may be: `long-answers-module.ts <address>`. Its model is `acme:demo:counter` of sensor. */
import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { silentLog } from '@platform/base';
import { DoCommandResponseSchema, GetReadingsResponseSchema } from '@platform/proto/platform/common/v1/common';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createRpcServer, serve } from '@platform/rpc/server';

/** Just under the 4 MiB that the cloud stores of one reading. */
const keys = 240_000;
/** Just under what a machine-server decodes of one answer: five elements for each key. */
const decodedKeys = 39_000;

const subtype = { namespace: 'core', type: 'component', subtype: 'sensor' };
const handler = { subtype: { subtype, protoService: SensorService.typeName }, models: ['acme:demo:counter'] };
const named = (count: number): { name: string; value: number }[] =>
  Array.from({ length: count }, (_, value) => ({ name: value.toString(36), value }));

/** An answer that is encoded only once: otherwise this process would keep a processor busy. Its only field has the number 1. */
function encodedOnce<D extends DescMessage>(schema: D, init: MessageInitShape<D>): MessageShape<D> {
  const bytes = toBinary(schema, create(schema, init));
  const answer = create(schema);
  // The tag of the first field; its length, its content and the other fields are written as they are.
  answer.$unknown = [{ no: 1, wireType: WireType.LengthDelimited, data: bytes.subarray(1) }];
  return answer;
}

const readings = encodedOnce(GetReadingsResponseSchema, {
  readings: Object.fromEntries(
    named(keys).map(({ name, value }) => [name, { kind: { case: 'numberValue' as const, value } }]),
  ),
});
const result = encodedOnce(DoCommandResponseSchema, {
  result: Object.fromEntries(named(decodedKeys).map(({ name, value }) => [name, value])),
});

await createRpcServer({
  services: [
    serve<typeof ModuleService>(ModuleService, {
      ready: () => ({ ready: true, handlermap: { handlers: [handler] } }),
      validateConfig: () => ({}),
      addResource: () => ({}),
      removeResource: () => ({}),
    }),
    serve<typeof SensorService>(SensorService, {
      getReadings: () => readings,
      doCommand: () => result,
    }),
  ],
  authenticate: async () => 'parent',
  open: [],
  fallback: (_request, response) => void response.end(),
  log: silentLog,
}).listenOnSocket(process.argv[2] ?? '');
