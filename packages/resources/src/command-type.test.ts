import { expect, test } from 'vitest';
import { commandType } from './command-type.ts';

test('a custom type has DoCommand and GetStatus under a service named after its API', () => {
  const { api, service, captures } = commandType('acme:service:leak-detector');
  expect(api).toBe('acme:service:leak-detector');
  expect(service.typeName).toBe('acme.service.leak_detector.v1.LeakDetectorService');
  expect(service.methods.map(({ name, input }) => [name, input.typeName])).toEqual([
    ['DoCommand', 'platform.common.v1.DoCommandRequest'],
    ['GetStatus', 'platform.common.v1.GetStatusRequest'],
  ]);
  expect(Object.keys(captures)).toEqual(['DoCommand']);
  expect(commandType('acme:component:x', 'acme.Xs').service.typeName).toBe('acme.Xs');
});

test('an API of another form is refused', () => {
  for (const api of ['greenhouse', 'acme:greenhouse', 'acme:part:greenhouse', 'Acme:component:x'])
    expect(() => commandType(api)).toThrow('expected <namespace>:component:<type>');
});
