import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createStatusPage } from './status-page.ts';

test('the hint of the status page names the command that works here, whatever is in it, and the policy allows the script', () => {
  const { html, contentSecurityPolicy } = createStatusPage(`node "</script>'s/run.js"`);
  const scripts = [...html.html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);
  expect(scripts).toHaveLength(1);
  expect(scripts[0]).toContain(String.raw`"node \"\u003c/script>'s/run.js\"" + ' machines part force'`);
  const hash = createHash('sha256')
    .update(scripts[0] ?? '')
    .digest('base64');
  expect(contentSecurityPolicy).toContain(`script-src 'sha256-${hash}'`);
});
