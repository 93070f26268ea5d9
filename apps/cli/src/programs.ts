/** The programs that the command line starts: from source if it runs from source, otherwise the bundles beside its own. */

const isSource = import.meta.url.endsWith('.ts');
const beside = (name: string): string => new URL(`./${name}.js`, import.meta.url).href;

/** file: URLs of the main modules. */
export const programs: Readonly<Record<'cloud' | 'admin' | 'machineServer', string>> = {
  cloud: isSource ? import.meta.resolve('@platform/cloud/main') : beside('cloud'),
  admin: isSource ? import.meta.resolve('@platform/cloud/admin') : beside('admin-main'),
  machineServer: isSource ? import.meta.resolve('@platform/machine-server/main') : beside('machine-server'),
};
