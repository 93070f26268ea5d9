/** Entry point of the cloud. */
import { resolveOnce } from '@platform/base/resolve-once';

resolveOnce();
await import('./run.ts');
