/** For tests: modules that misbehave: `misbehaving-module.ts <behaviour> <address>`. */
import { createServer } from 'node:net';
import { silentLog } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createRpcServer, type ServiceBinding, serve } from '@platform/rpc/server';

const [, , behaviour = '', address = ''] = process.argv;

/** Answers Ready with this. */
const answering = (answer: object): ServiceBinding =>
  serve<typeof ModuleService>(ModuleService, { ready: () => answer });

const sensor = { namespace: 'core', type: 'component', subtype: 'sensor' };
const handler = { subtype: { subtype: sensor, protoService: SensorService.typeName }, models: ['acme:demo:counter'] };

const services: Readonly<Record<string, readonly ServiceBinding[]>> = {
  'other-protocol': [],
  'never-adds': [
    serve<typeof ModuleService>(ModuleService, {
      ready: () => ({ ready: true, handlermap: { handlers: [handler] } }),
      validateConfig: () => ({}),
      addResource: () => new Promise(() => {}),
    }),
  ],
  'never-ready': [answering({ ready: false })],
  nonsense: [answering({ ready: true, handlermap: { handlers: [{ models: ['a'] }] } })],
};
const served = services[behaviour];
if (served === undefined) {
  // Not gRPC at all.
  createServer((socket) => socket.on('error', () => {}).end('HELLO, THIS IS NOT A MODULE\r\n'.repeat(100))).listen({
    path: address,
  });
} else {
  await createRpcServer({
    services: served,
    authenticate: async () => 'parent',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  }).listenOnSocket(address);
}
