import { expect, test } from 'vitest';
import { dialedName } from './dialed-name.ts';

test.each([
  ['grpc-go/1.82.1', 'cloud.example:8443', 'p.machines.example:8443'],
  ['grpc-go/1.82.1', 'cloud.example', 'p.machines.example:443'],
  ['grpc-go/1.82.1', '[::1]:8080', 'p.machines.example:8080'],
  ['grpc-python/1.70.0 grpc-c/45.0.0', 'cloud.example:8443', 'p.machines.example'],
  ['', 'cloud.example:8443', 'p.machines.example'],
])(
  'D39 a client %j that called %s dials the name %s: Go finds a machine behind the cloud only with a port',
  (userAgent, host, name) => {
    const metadata = new Headers([
      ['user-agent', userAgent],
      ['host', host],
    ]);
    expect(dialedName('p.machines.example', metadata)).toBe(name);
  },
);
