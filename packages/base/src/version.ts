/** The version of the platform: that of every package, which a test compares (tools/launcher.test.ts). */
export const version = '0.1.0';
