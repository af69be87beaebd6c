import { defineConfig } from 'vitest/config';

// Files share a thread and get a context each, so that jsdom is loaded once: that takes longer than
// their tests. Not every package can be imported in such a context, so the rest has none.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'dom',
          environment: 'jsdom',
          pool: 'vmThreads',
          include: ['{lab,ui}/tests/**/*.test.ts']
        }
      },
      { test: { name: 'protocol', include: ['protocol/tests/**/*.test.ts'] } }
    ]
  }
});
