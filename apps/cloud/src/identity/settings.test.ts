import { expect, test } from 'vitest';
import { readIdentitySettings } from './settings.ts';

test('by default sessions last 12 hours and 90 days, and there is neither mail nor an OpenID provider', () => {
  expect(readIdentitySettings({})).toEqual({
    publicUrl: undefined,
    sessions: { browserIdleMs: 43_200_000, cliMs: 7_776_000_000 },
    mail: undefined,
    openId: undefined,
  });
});

test('all settings are read', () => {
  expect(
    readIdentitySettings({
      PLATFORM_PUBLIC_URL: 'https://fleet.example.com/',
      PLATFORM_SESSION_HOURS: '0.5',
      PLATFORM_CLI_SESSION_DAYS: '7',
      PLATFORM_SMTP_URL: 'smtps://name:word@mail.example.com',
      PLATFORM_MAIL_FROM: 'Platform <platform@example.com>',
      PLATFORM_OIDC_ISSUER: 'https://accounts.example.com',
      PLATFORM_OIDC_CLIENT_ID: 'id',
      PLATFORM_OIDC_CLIENT_SECRET: 'word',
    }),
  ).toEqual({
    publicUrl: 'https://fleet.example.com',
    sessions: { browserIdleMs: 1_800_000, cliMs: 604_800_000 },
    mail: { smtpUrl: 'smtps://name:word@mail.example.com', from: 'Platform <platform@example.com>' },
    openId: { issuer: 'https://accounts.example.com', clientId: 'id', clientSecret: 'word' },
  });
});

test.each([
  ['PLATFORM_PUBLIC_URL', { PLATFORM_PUBLIC_URL: 'https://fleet.example.com/path' }],
  ['PLATFORM_SESSION_HOURS', { PLATFORM_SESSION_HOURS: '0' }],
  ['PLATFORM_MAIL_FROM', { PLATFORM_SMTP_URL: 'smtp://mail.example.com' }],
  ['PLATFORM_MAIL_FROM', { PLATFORM_SMTP_URL: 'smtp://mail.example.com', PLATFORM_MAIL_FROM: 'a@b\r\nBcc: c@d' }],
  ['PLATFORM_SMTP_URL', { PLATFORM_SMTP_URL: 'http://secret-word@mail', PLATFORM_MAIL_FROM: 'a@b' }],
  ['PLATFORM_OIDC_ISSUER', { PLATFORM_OIDC_ISSUER: 'http://accounts.example.com', PLATFORM_OIDC_CLIENT_ID: 'id' }],
  ['PLATFORM_OIDC_CLIENT_ID', { PLATFORM_OIDC_ISSUER: 'https://accounts.example.com' }],
  [
    'PLATFORM_OIDC_CLIENT_SECRET',
    { PLATFORM_OIDC_ISSUER: 'https://accounts.example.com', PLATFORM_OIDC_CLIENT_ID: 'id' },
  ],
])('an invalid %s is named, and no secret is shown', (name, env) => {
  expect(() => readIdentitySettings(env)).toThrow(new RegExp(`^${name}: expected `));
  expect(() => readIdentitySettings(env)).not.toThrow(/secret-word/);
});
