/* SPDX-License-Identifier: MIT
 *
 * NVTX ranges of every kind, through the toolkit's own header.
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>

#include "tests/tasks/subjects/pipeline.h"

static nvtxRangeId_t elsewhere;

static void *end_it(void *argument) {
    nvtxRangeEnd(elsewhere);
    return argument;
}

int main(void) {
    pthread_t thread;
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "task ex";
    nvtxRangePushA("loading");
    dsl_work(2, 0);
    nvtxRangePop();
    nvtxRangePushA("task a");
    dsl_work(3, 0);
    nvtxRangePushW(L"inner");
    dsl_work(1, 0);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushEx(&attributes);
    nvtxRangePop();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "task registered");
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxRangePushA("other domain");
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    nvtxRangeId_t first = nvtxRangeStartA("task first"), second = nvtxRangeStartA("task second");
    dsl_work(1, 0);
    nvtxRangeEnd(first);
    nvtxRangeEnd(second);
    elsewhere = nvtxRangeStartA("task elsewhere");
    pthread_create(&thread, NULL, end_it, NULL);
    pthread_join(thread, NULL);
    nvtxRangePop(); /* one too many */
    puts("ok");
    return 0;
}
