import { expect, test } from 'vitest';
import { readPostgresAddress } from './postgres-address.ts';

const sslOf = (url: string): unknown => {
  const { config } = readPostgresAddress(url);
  return new URL(config.connectionString ?? '').searchParams.get('sslmode');
};

test('D31 the URL of a database on another computer must specify TLS; that of a local one need not', () => {
  expect(sslOf('postgres://u:p@localhost/db')).toBe('disable');
  expect(sslOf('postgres://u:p@127.0.0.1:5433/db')).toBe('disable');
  expect(sslOf('postgres://u@%2Fvar%2Frun%2Fpostgresql/db')).toBe('disable');
  expect(sslOf('postgresql://u:p@db.example.com/db?sslmode=verify-full')).toBe('verify-full');
  expect(() => readPostgresAddress('postgres://u:p@db.example.com/db')).toThrow(
    /sslmode=verify-full .* for db\.example\.com/,
  );
  expect(() => readPostgresAddress('postgres://u:p@db.example.com/db?sslmode=prefer')).toThrow(/sslmode to be disable/);
});

test('the description of a database never contains its password', () => {
  const url = 'postgres://user:pa%20ss@localhost/name';
  expect(readPostgresAddress(url).shown).toBe('Postgres database name on localhost:5432');
  for (const wrong of [
    'postgres://user:pass@localhost',
    'mysql://user:pass@localhost/db',
    'postgres://user:pass@host:port/db',
  ]) {
    let said = '';
    try {
      readPostgresAddress(wrong);
    } catch (caught) {
      said = JSON.stringify(caught) + String(caught);
    }
    expect(said).toContain('invalid_argument');
    expect(said).not.toContain('pass@');
  }
});
