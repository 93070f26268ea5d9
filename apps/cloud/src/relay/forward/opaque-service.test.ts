import { create, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { DoCommandRequestSchema } from '@platform/proto/platform/common/v1/common';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { opaqueName, opaqueService, requireDeclaredTypes } from './opaque-service.ts';
import type { RelayedCallDeps } from './relayed-call.ts';
import { relayedBindings } from './relayed-services.ts';

const spin = '/acme.widget.v1.WidgetService/Spin';

test('a method of any service is made from its path; messages of any kind pass unchanged', () => {
  const service = opaqueService(spin, 'bidi_streaming');
  expect(service?.typeName).toBe('acme.widget.v1.WidgetService');
  const [method] = service?.methods ?? [];
  expect(method).toMatchObject({ name: 'Spin', methodKind: 'bidi_streaming' });
  expect(opaqueService(spin, 'unary')?.methods[0]?.methodKind).toBe('unary');
  const command = { name: 'w', command: { open: true, list: [1, 'two', { three: null }] } };
  const bytes = toBinary(DoCommandRequestSchema, create(DoCommandRequestSchema, command));
  const passed = fromBinary(method?.input ?? EmptySchema, bytes);
  expect(toBinary(method?.input ?? EmptySchema, passed)).toEqual(bytes);
  for (const path of ['/Widget/Spin', '/acme..W/Spin', '/acme.W/', '/acme.W/Spin/x', `/acme.${'W'.repeat(300)}/Spin`])
    expect(opaqueService(path, 'unary')).toBeUndefined();
});

test('a path invented by a caller makes a service or none, and never fails', () => {
  const word = fc.stringMatching(/^[A-Za-z_.]{1,12}$/);
  const odd = fc.constantFrom('__proto__', 'constructor', 'toString', 'Empty', 'google.protobuf', '', '$', 'ü');
  const part = fc.oneof(word, odd, fc.string());
  fc.assert(
    fc.property(part, part, part, (scope, service, method) => {
      const path = `/${scope}.${service}/${method}`;
      const made = opaqueService(path, 'bidi_streaming');
      if (made !== undefined) expect(`/${made.typeName}/${made.methods[0]?.name}`).toBe(path);
    }),
  );
});

test('the name of the resource is the text in field 1; anything else there is not a name', () => {
  const passed = (bytes: Uint8Array): Message => fromBinary(EmptySchema, bytes);
  const { input } = MotorService.method.setPower;
  const named = (name: string) => opaqueName(passed(toBinary(input, create(input, { name, powerPct: 1 }))));
  expect(named('left')).toBe('left');
  expect(named('Motor ü')).toBe('Motor ü');
  for (const name of ['', 'x'.repeat(256), 'two\nlines']) expect(named(name)).toBe('');
  // A number, a truncated text, bytes that are not text, a different field.
  for (const bytes of [
    [8, 5],
    [10, 0],
    [10, 2, 0xff, 0xfe],
    [18, 1, 65],
  ])
    expect(opaqueName(passed(new Uint8Array(bytes)))).toBe('');
  expect(opaqueName(create(EmptySchema))).toBe('');
});

test('a message that its declared types would read differently is refused', () => {
  const bytes = (...all: number[]) => fromBinary(EmptySchema, Uint8Array.from(all));
  const check = (message: Message) => requireDeclaredTypes(message, DoCommandRequestSchema);
  const named = bytes(0x0a, 1, 0x61);
  expect(() => check(named)).not.toThrow();
  expect(opaqueName(named, 1)).toBe('a');
  // A number where the name should be; and one for the command, which the machine would take for a length.
  expect(() => check(bytes(0x08, 1))).toThrow('found field name with wire type 0');
  expect(() => check(bytes(0x0a, 1, 0x61, 0x10, 3, 0x0a, 1, 0x62))).toThrow('found field command with wire type 0');
});

test('D48 over binary protocols, only messages with API names or a nested name of the resource are decoded', () => {
  const methods = relayedBindings({} as RelayedCallDeps).flatMap((binding) => binding.methods);
  const unread = methods.filter(({ raw }) => raw).map(({ path }) => path);
  expect(unread).toContain('/platform.component.sensor.v1.SensorService/DoCommand');
  expect(unread).toContain('/platform.component.sensor.v1.SensorService/GetReadings');
  expect(unread).not.toContain('/platform.robot.v1.RobotService/ResourceNames');
  expect(unread).not.toContain('/platform.service.shell.v1.ShellService/CopyFilesToMachine');
  // Callers in JSON need all of them.
  const decoded = new Set(methods.filter(({ raw }) => !raw).map(({ path }) => path));
  expect(unread.filter((path) => !decoded.has(path))).toEqual([]);
});
