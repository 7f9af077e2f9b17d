#!/usr/bin/env python
# coding: utf-8
# SPDX-License-Identifier: MIT

# What jupyter nbconvert --to script makes of a notebook.

# In[1]:


import math


# In[2]:


def wave(count):
    total = 0.0
    for step in range(count):
        total += step % 7 * math.pi
    return total


# In[3]:


values = [wave(30000) for _ in range(120)]


# In[4]:


print(len(values))

